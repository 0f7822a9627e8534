/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* "jbdlab scratch lease DEV" and "unlease DEV". */

#include <jansson.h>

#include "cli/command.h"

/* serial: what --serial gave, NULL: ask on the terminal. */
int scratch_lease(struct cli *cli, const char *device, const char *serial, struct err *e);

/* For "scratch list": all leases as an array; as a table, after an empty line if wanted,
 * nothing when there are none. */
int scratch_leases_to_json(json_t **out, struct err *e);
int scratch_leases_print(bool line_before, size_t *count, struct err *e);

int scratch_unlease(struct cli *cli, const char *device, struct err *e);
