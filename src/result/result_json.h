/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A run as JSON and back: one line of a bundle's runs.jsonl, and what `bench --json` and
 * `tiobench --json` print.  Numbers are raw, in the units that result.h names (bytes,
 * nanoseconds, operations); words are whole.  A histogram is written sparse: pairs of the
 * lowest value of a bucket in nanoseconds and its count, so that it can be read without
 * knowing our bucket layout, and merged without loss.
 */

#include <jansson.h>

#include "core/err.h"
#include "result/result.h"

#define RESULT_RUN_SCHEMA "jbdlab-run/1"

/* A new reference, which the caller drops with json_decref(); NULL: no memory, or a name
 * that is not UTF-8. */
json_t *result_run_to_json(const struct result_run *run);

/*
 * Fills run, which must be zero; the caller frees it with result_run_deinit().  Whatever
 * is missing, of the wrong type or impossible (a histogram whose buckets do not add up to
 * its count) is -EBADMSG with the path of the key in the text; run then is empty. Unknown
 * keys are ignored: later versions may add some.
 */
int result_run_from_json(struct result_run *run, const json_t *json, struct err *e);

/* The words for units and directions in JSON and CSV: "bytes_per_second",
 * "higher_is_better". */
const char *result_unit_word(enum result_unit unit);
const char *result_direction_word(enum result_direction direction);
