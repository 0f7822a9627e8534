/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Rows of tiobench and tiotest, whatever they looked like: the faults of their programs
 * are looked for in all rows of an arm together, and then they become phases.
 */

#include "import/reader.h"

enum tio_section { TIO_READ, TIO_RREAD, TIO_WRITE, TIO_RWRITE, TIO_SECTIONS };

/* NAN: unknown.  Rates are MiB/s, times milliseconds, the rest as percent. */
struct tio_row {
	size_t arm;
	unsigned line;
	enum tio_section section;
	double size_mib, block, threads;
	double rate, cpu, efficiency;
	double avg_ms, max_ms, over_2s, over_10s;
	double rounding_ms; /* half of the last digit of avg_ms */
	double wall_s, user_s, system_s; /* tiotest -T tells them */
	double counted_mib;		 /* what the program says that it moved */
	bool counted_is_rounded;	 /* to whole megabytes */
	double random;	   /* random operations of all threads; NAN: not said */
	double runs;	   /* that were added up; 1 */
	bool bypasses_cache; /* it was asked to drop the cache, or not to use it */
	unsigned marks;	   /* enum result_mark */
};

struct tio_rows {
	struct tio_row *rows;
	size_t count;
};

void tio_rows_add(struct reader *r, struct tio_rows *rows, const struct tio_row *row);

/* Looks for faults, says them, and makes the phases. */
void tio_rows_finish(struct reader *r, struct tio_rows *rows);
void tio_rows_deinit(struct tio_rows *rows);

/* "Sequential Reads" */
extern const char *const tio_titles[TIO_SECTIONS];
