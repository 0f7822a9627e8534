/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The table of formats, one file each. */

#include "import/reader.h"

/* "ROW(name)" for import_name of name.c.  A line is offered to them in this order: those
 * that are sure of their lines come first, pts takes whatever has bars. */
#define IMPORT_FORMATS(ROW) \
	ROW(fio) \
	ROW(iozone) \
	ROW(bonnie) \
	ROW(postmark) \
	ROW(dbench) \
	ROW(tiotest) \
	ROW(tiobench) \
	ROW(dd) \
	ROW(fsmark) \
	ROW(pgbench) \
	ROW(pts)

#define IMPORT_DECLARE(NAME) extern const struct import_format import_##NAME;
IMPORT_FORMATS(IMPORT_DECLARE)
#undef IMPORT_DECLARE
