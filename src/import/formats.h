/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The formats, one file each. */

#include "import/reader.h"

extern const struct import_format import_bonnie, import_dbench, import_dd, import_fio,
	import_fsmark, import_iozone, import_pgbench, import_postmark, import_pts,
	import_tiobench, import_tiotest;
