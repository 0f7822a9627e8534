/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A workload is what is measured.  Each type (tiobench, dd, ...) is one file that exports
 * one `struct workload_type` and is a row of the table in types.h.  The command line, the
 * experiment file and the manual all see a type through its keys.
 *
 * A workload works in directories only.  It makes its own files there, removes them on
 * every way out, and reports either complete phases or an error: no row of a run that
 * failed.
 */

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/log.h"
#include "result/result.h"

/* A name that ends with ".NAME" stands for all keys that begin with what is before that:
 * any number of them may be set. */
struct workload_key {
	const char *name;
	const char *value;	   /* what is expected: "SIZE", "COUNT...", "yes|no" */
	const char *default_value; /* as typed; NULL: must be given; "": not set */
	const char *help;
};

struct workload; /* a type with its keys set */

/* Somebody who reads counters around each timed part, outside the measured time. */
struct workload_observer {
	void *data;
	void (*begin)(void *data); /* everything is prepared, nothing released yet */
	void (*end)(void *data, struct result_evidence *sum); /* adds to *sum */
};

struct workload_env {
	const char *const *directories; /* at least one, existing, writable */
	size_t directory_count;
	uint64_t seed;	  /* equal seeds: equal data, equal offsets */
	bool drop_caches; /* between phases: sync, then drop the page cache (root) */
	volatile sig_atomic_t *stop; /* set by a signal: end soon with ERR_INTERRUPTED */
	const struct log *log;
	const struct workload_observer *observer; /* NULL: nobody */
	const char *keep; /* directory to make for what is worth keeping; NULL: none */
};

struct workload_type {
	const char *name;
	const char *summary;
	const struct workload_key *keys;
	size_t key_count;
	size_t options_bytes; /* size of the options structure of this type */

	/* Sets one key; the name is one of keys[].  -EINVAL with the reason. */
	int (*set)(void *options, const char *key, const char *value, struct err *e);
	/* After all keys: what does not go together.  May be NULL. */
	int (*check)(const void *options, struct err *e);
	/* Before anything is begun: is what it needs there?  ERR_REFUSED says what is
	 * missing.  May be NULL. */
	int (*ready)(const void *options, struct err *e);
	/* Bytes that a run writes and reads, for the estimate of time and space. */
	uint64_t (*bytes)(const void *options);
	/* Time that a run takes beside moving them, for the estimate.  May be NULL: none. */
	uint64_t (*duration_ns)(const void *options);
	/* Time in which a run may do nothing that anybody sees, neither compute nor read or
	 * write; longer, it hangs.  May be NULL: duration_ns. */
	uint64_t (*quiet_ns)(const void *options);
	/* Bytes that its files take at most. */
	uint64_t (*space)(const void *options);
	/* Runs; adds phases to run.  On error the run is to be thrown away. */
	int (*run)(const void *options, const struct workload_env *env,
		struct result_run *run, struct err *e);
	/* Frees what set() allocated inside options; may be NULL. */
	void (*deinit)(void *options);
};

/* The table of types, in the order of the manual. */
size_t workload_type_count(void);
const struct workload_type *workload_type_at(size_t i);
const struct workload_type *workload_type_find(const char *name); /* or NULL */

/* Does the key, as typed, belong to this row of the table? */
bool workload_key_is(const struct workload_key *key, const char *typed);

/* A workload of that type with all defaults set; name is the section's name (copied). */
int workload_new(struct workload **out, const struct workload_type *type,
	const char *name, struct err *e);
struct workload *workload_free(struct workload *w);
DEFINE_CLEANUP(struct workload *, workload_free)

const char *workload_name(const struct workload *w);
const struct workload_type *workload_type_of(const struct workload *w);

/* Unknown key: -ENOENT; bad value: -EINVAL; both with a text. */
int workload_set(struct workload *w, const char *key, const char *value, struct err *e);
int workload_check(const struct workload *w, struct err *e);
int workload_ready(const struct workload *w, struct err *e);
uint64_t workload_bytes(const struct workload *w);
uint64_t workload_space(const struct workload *w);
uint64_t workload_duration_ns(const struct workload *w);
uint64_t workload_quiet_ns(const struct workload *w);

/* Runs it.  run gets workload and type names and the start time; the caller sets arm,
 * block and position.  On error run is empty again. */
int workload_run(const struct workload *w, const struct workload_env *env,
	struct result_run *run, struct err *e);
