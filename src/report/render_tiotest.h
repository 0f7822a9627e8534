/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The output of tiotest, the program below tiobench.pl, from a run of `tiobench`. */

#include "core/strbuf.h"
#include "result/result.h"

enum tiotest_format {
	TIOTEST_BOX,   /* two boxes */
	TIOTEST_TERSE, /* as with -T */
};

/* One output for each number of threads, block and size, in the order of the run. */
void render_tiotest(
	const struct result_run *run, enum tiotest_format format, struct strbuf *out);
