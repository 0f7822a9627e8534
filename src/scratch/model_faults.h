/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a modelled disk does wrong, decided for one request after the other.  No I/O and no
 * threads in here; the caller passes the time and does what is decided.
 *
 *	fail_*		the request is answered with EIO and has no effect
 *	bad_*		the same for those that touch a place
 *	drop_write	a write is acknowledged and has no effect
 *	lie_flush	a flush is acknowledged; what it should make durable is lost in a
 *			power cut as before
 *	slow		the answer comes later
 *	hang		it comes when the disk is woken, or after a time
 *	vanish		the disk has lost its power, and with it what was not flushed: every
 *			request fails until the disk is woken
 */

#include <stdbool.h>
#include <stdint.h>

#include "scratch/model.h"
#include "scratch/model_parameters.h"

/* What the disk did wrong and did not say.  All but untrue are set to zero with the other
 * counters. */
struct model_faults_stats {
	uint64_t dropped_writes, dropped_bytes;
	uint64_t unmade_flushes;
	uint64_t lost_bytes; /* when it vanished; filled by the caller */
	uint64_t untrue;     /* dropped writes and unmade flushes since the disk was made */
};

/* Hanging and being away happen once, until the faults are set anew. */
enum model_presence { DISK_HERE, DISK_GONE, DISK_BACK };

struct model_faults {
	struct model_parameters p; /* only its faults are looked at */
	uint64_t seen[MODEL_KINDS], seen_bad;
	uint64_t hang_until_ns; /* 0: it has not begun to hang */
	enum model_presence presence;
	struct model_faults_stats stats;
};

struct model_fault {
	int error;	 /* positive errno for the answer; 0: none */
	bool ignored;	 /* acknowledge it and do nothing */
	bool vanishes;	 /* with this request the power goes */
	uint64_t due_ns; /* no answer before; UINT64_MAX: not before it is woken */
};

/* Begins to count anew.  What hangs or is gone is here again: see model_faults_wake(). */
void model_faults_set(struct model_faults *f, const struct model_parameters *p);

/* As if the same faults had just been set, but what hangs or is gone stays so. */
void model_faults_count_anew(struct model_faults *f, uint64_t now_ns);

/* Decides about one request.  due_ns: when it would be answered without faults. */
struct model_fault model_faults_take(struct model_faults *f, const struct model_request *r,
	uint64_t due_ns);

/* Ends hanging and being away.  Returns the time from which answers wait that are to be
 * given now; 0: none waits for this. */
uint64_t model_faults_wake(struct model_faults *f, uint64_t now_ns);

/* Has somebody to remember what a loss of power would take? */
bool model_faults_can_lose(const struct model_faults *f);
