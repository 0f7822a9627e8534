/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A bundle: the directory that an experiment writes.
 *
 *	bundle.json       what this is: name, seed, arms, state; replaced as a whole
 *	plan.ini          the resolved plan; its SHA-256 is in bundle.json
 *	runs.jsonl        one line for each run, with histograms; see result_json.h
 *	cells.jsonl       one line for each cell: move, file system check, mount
 *	traces.jsonl      one line for each phase of a traced run; see timeline.h
 *	environment.json  the machine and the disks, before and after
 *	report.txt        the text report
 *	output/           what programs printed: a directory for each run of a command
 *	state.log         what was begun and what was finished; see plan/state_log.h
 *	status.json       where the run is just now
 *
 * Lines are appended and synced one by one, so that what was measured survives whatever
 * comes after it.  All schemas are versioned; readers ignore keys that they do not know.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/sha256.h"
#include "result/result.h"
#include "result/timeline.h"

#define BUNDLE_SCHEMA "jbdlab-bundle/1"

enum bundle_state { BUNDLE_RUNNING, BUNDLE_COMPLETE, BUNDLE_INTERRUPTED, BUNDLE_FAILED };

struct bundle_arm {
	char *name;
	char *placement; /* as the plan says it: "external=slow,size=64M" */
	char *mount;	 /* options, "" for none */
	char *levels;	 /* "journal=external commit=5", by which it is grouped; "" */
};

/* Where nothing else was said. */
#define BUNDLE_LEVEL 0.95
#define BUNDLE_MARGIN 0.03

/* What the analysis goes by; all zero when a bundle is made: the above. */
struct bundle_design {
	double level;	/* of confidence: 0.95 */
	double margin;	/* 0.03: a smaller difference does not matter */
	double target;	/* wanted half-width, Stein's two stages; 0: none */
	uint32_t pilot; /* blocks of the first stage; 0: none */
};

struct bundle_info {
	char *name;
	char *version; /* of the program that wrote it */
	char *primary; /* metric path, "" for none */
	uint64_t created_wall_ns;
	uint64_t seed;	 /* below 2^63 */
	uint32_t blocks; /* planned; may grow while it runs */
	struct bundle_design design;
	enum bundle_state state;
	char *reason; /* why it ended before its time, "" otherwise */
	char plan_sha256[SHA256_TEXT];
	struct bundle_arm
		*arms; /* in the order of the plan; the first is compared with */
	size_t arm_count;
};

void bundle_info_deinit(struct bundle_info *info);

/* Appends an arm; texts are copied.  -ENOMEM. */
int bundle_info_add_arm(struct bundle_info *info, const char *name, const char *placement,
	const char *mount, struct err *e);

/* Sets the levels of the arm that was appended last.  -ENOMEM. */
int bundle_info_set_levels(
	struct bundle_info *info, const char *levels, struct err *e);

/* Writing. */

struct bundle_writer; /* opaque */

/*
 * Makes the directory, which must not exist (ERR_REFUSED), with plan and info, both
 * copied; the hash is computed here.  The state is BUNDLE_RUNNING until bundle_finish().
 * The directory gets its name when all that is in it.
 */
int bundle_create(struct bundle_writer **out, const char *path,
	const struct bundle_info *info, const char *plan, struct err *e);
/* Goes on with a bundle that exists; its state becomes BUNDLE_RUNNING on disk with the
 * first bundle_finish(). */
int bundle_open(struct bundle_writer **out, const char *path, struct err *e);
struct bundle_writer *bundle_writer_free(struct bundle_writer *w);
DEFINE_CLEANUP(struct bundle_writer *, bundle_writer_free)

/* Each is on disk when it returns 0; after an error the file is as before. */
int bundle_add_run(struct bundle_writer *w, const struct result_run *run, struct err *e);
int bundle_add_cell(struct bundle_writer *w, const json_t *cell, struct err *e);
int bundle_add_trace(struct bundle_writer *w, const struct timeline *t, struct err *e);
int bundle_set_environment(
	struct bundle_writer *w, const json_t *environment, struct err *e);
int bundle_set_report(struct bundle_writer *w, const char *text, struct err *e);

/* It became clear how many blocks there will be. */
int bundle_set_blocks(struct bundle_writer *w, uint32_t blocks, struct err *e);

/* Where the output of a run's program belongs; the caller frees it.  NULL: no memory. */
char *bundle_output_path(const char *bundle, uint32_t block, const char *arm,
	const char *workload);

/* Records how the experiment ended, or, with BUNDLE_RUNNING, that it goes on. */
int bundle_finish(struct bundle_writer *w, enum bundle_state state, const char *reason,
	struct err *e);

/*
 * Removes the rows of cells that keep() does not want, and an incomplete last line, from
 * runs and cells.  Each file is replaced as a whole.
 */
int bundle_keep_cells(struct bundle_writer *w,
	bool (*keep)(const void *data, uint32_t block, uint32_t position),
	const void *data, struct err *e);

/* Removes the bundle: its files and the directory, which must hold nothing else. */
int bundle_discard(struct bundle_writer *w, struct err *e);

/* Reading. */

struct bundle {
	char *path;
	struct bundle_info info;
	char *plan;
	json_t *cells;	     /* array */
	json_t *traces;	     /* array, of a bundle in memory; NULL: in traces.jsonl */
	json_t *environment; /* NULL when it was never written */
	char *notes; /* what is odd about it, one sentence a line; NULL: nothing */
};

/* Everything but the runs.  No bundle, or one that is damaged: ERR_USAGE with the file,
 * the line and what is wrong. */
int bundle_load(struct bundle *b, const char *path, struct err *e);
void bundle_deinit(struct bundle *b);

/*
 * Reads the runs one by one, so that a bundle of any length can be read.  visit may take
 * the run by copying the structure and zeroing it; else it is freed.  An incomplete last
 * line, left by a power cut, is not an error but a note; any other bad line is.
 */
int bundle_each_run(struct bundle *b,
	int (*visit)(void *data, struct result_run *run, struct err *e), void *data,
	struct err *e);

/* The same for traces; visit may keep what it gets by setting it to NULL. */
int bundle_each_trace(struct bundle *b,
	int (*visit)(void *data, struct timeline **t, struct err *e), void *data,
	struct err *e);

const char *bundle_state_word(enum bundle_state state); /* "complete" */
