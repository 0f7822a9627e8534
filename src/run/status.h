/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Where a run is: an object of JSON that the run makes at each step, and that its watcher
 * keeps in BUNDLE/status.json for whoever monitors it, completed by how the run ended.
 */

#include <jansson.h>

#include "core/strbuf.h"
#include "run/session.h"

#define STATUS_SCHEMA "jbdlab-status/1"

/* In the run: a step begins, of that phase and of session->workload if there is one; it
 * may be without any sign of life for expected_ns.  Tells the observer. */
void status_step(const struct session *s, const char *phase, uint64_t expected_ns);

/* For phases_run(). */
void status_phase(void *session, const char *phase, bool undo);

/* In the watcher. */

/* Writes BUNDLE/status.json with the state and, if it is not NULL, the reason.  Readers
 * find the old one or the new one; a power cut may leave any. */
int status_write(const char *bundle, json_t *status, const char *state, const char *reason,
	struct err *e);

/* "block 2 of 6, arm ssd, workload dd, phase "measure" for 12s" */
void status_describe(const json_t *status, struct strbuf *out);

/* ", in all about 3min left", or nothing. */
void status_describe_left(const json_t *status, struct strbuf *out);
