/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A disk model on the real clock, over a data file.  It takes requests from any thread and
 * answers each one through a callback when the model says that it is done.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"
#include "scratch/model_parameters.h"
#include "scratch/reply_queue.h"

/* Words for model_device_control(); those with NS are followed by nanoseconds. */
#define MODEL_CONTROL_STATS "stats"   /* answered with the text of model_device_stats() */
#define MODEL_CONTROL_RESET "reset"   /* counters to zero */
#define MODEL_CONTROL_CHARGE "charge" /* charge what the model says (at the start) */
#define MODEL_CONTROL_FREE "free"     /* charge nothing, answer at once, hang no more */
#define MODEL_CONTROL_FIXED "fixed"   /* NS for every request, model not asked */
#define MODEL_CONTROL_WAKE "wake"     /* end of hanging and of being away: see model_faults.h */
#define MODEL_CONTROL_FAULT "fault"   /* followed by faults, which replace those it has */
#define MODEL_CONTROL_LEAD "lead"     /* NS that the way to the model and back takes */

/* Kept up to date where others can read it without asking. */
struct model_shared {
	_Atomic uint64_t busy_ns; /* time charged so far */
	_Atomic uint64_t untrue;  /* requests that were acknowledged and not carried out */
};

struct model_device_options {
	const char *name; /* for the counters */
	int data_fd;	  /* of at least size_bytes, for reading and writing; not owned */
	uint64_t size_bytes;
	struct model_parameters parameters;
	struct model_shared *shared; /* NULL: nobody looks */
	/* Gives one answer: the error if there is one; else data, if there is any; else
	 * the number of bytes.  Called from several threads. */
	void (*answer)(const struct reply *r);
};

struct model_device;

/* o stays the caller's and must outlive the device. */
int model_device_new(struct model_device **out, const struct model_device_options *o,
	struct err *e);
struct model_device *model_device_free(struct model_device *d); /* answers all; NULL */
DEFINE_CLEANUP(struct model_device *, model_device_free)

/* Gives every answer that waits, at once.  No request may follow. */
void model_device_drain(struct model_device *d);

/* One request each; context comes back in the answer.  A read's data belongs to it; a
 * write's buffer is the caller's again when the call returns. */
void model_device_read(struct model_device *d, void *context, uint64_t offset,
	size_t bytes);
void model_device_write(struct model_device *d, void *context, uint64_t offset,
	const void *buffer, size_t bytes);
void model_device_flush(struct model_device *d, void *context);
/* mode as for fallocate(2). */
void model_device_punch(struct model_device *d, void *context, int mode, uint64_t offset,
	uint64_t bytes);

/* Parameters and counters as JSON text; the caller frees.  NULL: no memory. */
char *model_device_stats(struct model_device *d);

/* Obeys a word and returns the answer, MODEL_CONTROL_OK or what was asked for; the caller
 * frees.  What is no word is answered with MODEL_CONTROL_UNKNOWN. */
#define MODEL_CONTROL_OK "ok\n"
#define MODEL_CONTROL_UNKNOWN "unknown\n"
char *model_device_control(struct model_device *d, const char *line);
