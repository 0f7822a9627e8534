/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Parts of a report as JSON values, for the formats that are JSON. */

#include <jansson.h>

#include "report/report.h"

#define REPORT_SCHEMA "jbdlab-report/1"

/* What the bundle says of itself, the summary and the remarks.  NULL: no memory. */
json_t *report_head_to_json(const struct report *r);

/* A row as an object whose keys are those of the columns.  NULL: no memory. */
json_t *report_row_to_json(const struct report_table *t, size_t row);
