/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Files that are imported, for the commands import and compare. */

#include "core/log.h"
#include "import/import.h"

enum { IMPORT_NAMES_MAX = 64 };

struct import_names {
	const char *names[IMPORT_NAMES_MAX];
	size_t count;
};

struct import_set {
	struct import *imports;
	size_t count;
};

/* Imports one more file and says its notes as warnings: "FILE:LINE: text". */
int import_set_add(struct import_set *set, const char *path,
	const struct import_options *options, const struct log *log, struct err *e);

/* Names the arms in the order in which they were found.  More names than arms: ERR_USAGE. */
int import_set_name_arms(
	struct import_set *set, const struct import_names *names, struct err *e);
void import_set_deinit(struct import_set *set);
