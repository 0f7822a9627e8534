/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every state in which a kill or a power cut can leave the devices during a recorded run.
 */
#pragma once

#include <stdio.h>

#include "common.h"
#include "image.h"
#include "tracelog.h"

enum model {
	MODEL_KILL,  /* the process dies: what it wrote, it wrote, in order */
	MODEL_P4096, /* power cut; the device writes pages of 4 KiB whole or not at all */
	MODEL_P512,  /* power cut; sectors of 512 bytes, so that a page can tear */
	N_MODELS
};

/* One unit (page or sector) that reached the device although no flush asked for it. */
struct pick {
	uint32_t device;
	uint32_t bytes;
	uint64_t offset;
	const uint8_t *data; /* owned by the set of states */
};

struct state {
	enum model model;		     /* that built it first */
	uint32_t models;		     /* all in which it occurs, a bit for each */
	uint32_t at;			     /* operations that had been issued */
	uint32_t durable[TRACE_DEVICES_MAX]; /* per device: all before this one count */
	uint64_t partial_bytes;		     /* MODEL_KILL: of operation @at */
	uint32_t n_picks, n_units;	     /* of n_units that were pending */
	struct pick *pick;
};

struct states_opts {
	uint64_t seed;
	uint32_t cap; /* combinations per flush; more are sampled */
	bool wanted[N_MODELS];
};

struct states {
	struct state *state;
	uint32_t n;
	void *seen;	  /* by content */
	uint32_t sampled; /* flushes for which not every combination was built */
};

extern const char *const model_names[N_MODELS];

/*
 * states_build() - enumerates the states, each content once.
 * @img: the devices at the start; their current state is used as scratch space.
 * The first state is the start itself.
 */
void states_build(struct states *s, const struct trace *t, struct image *img,
	const struct states_opts *o);
void states_free(struct states *s);

/* state_make() - builds the content of one state in @img. */
void state_make(const struct state *s, const struct trace *t, struct image *img);

/* trace_apply() - builds the end of the run in @img. */
void trace_apply(const struct trace *t, struct image *img);

/* state_describe() - one line that says what was cut where; @names: of the devices. */
void state_describe(
	FILE *f, const struct state *s, const struct trace *t, const char *const *names);
