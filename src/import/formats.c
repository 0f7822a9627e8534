/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of formats.  A line is offered to them in this order: those that are sure of
 * their lines come first, pts takes whatever has bars. */

#include "import/formats.h"

#include <stddef.h>

const struct import_format *const import_formats[] = {
	&import_fio,
	&import_iozone,
	&import_bonnie,
	&import_postmark,
	&import_dbench,
	&import_tiotest,
	&import_tiobench,
	&import_dd,
	&import_fsmark,
	&import_pgbench,
	&import_pts,
	NULL,
};
