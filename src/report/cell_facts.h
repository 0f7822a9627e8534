/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the records of cells tell; see run/surroundings.h for how they come about. */

#include <jansson.h>

#include "report/report.h"

/* The first volume in the first cell of an arm; NULL: there is no record. */
const json_t *cell_facts_volume(const struct report *r, const char *arm);

/* Mean place of a workload's files in an arm, as a fraction of the volume; NAN: unknown. */
double cell_facts_place(const struct report *r, const char *arm, const char *workload);

/* Sentences that live as long as the report; NULL: nothing happened. */
const char *cell_facts_changes(struct report *r); /* of the environment */
const char *cell_facts_kernel(struct report *r);  /* warnings and errors */
const char *cell_facts_foreign(struct report *r); /* I/O of others */
