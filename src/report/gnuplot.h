/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Drawing plots by the program gnuplot, all in one run of it. */

#include <signal.h>
#include <stdbool.h>

#include "core/err.h"
#include "report/plot.h"

enum gnuplot_shape {
	GNUPLOT_WIDE,	/* charts have one size, lists are wide */
	GNUPLOT_NARROW, /* of lists only: for a phone */
	GNUPLOT_ALONE,	/* a file of its own, with the title in it */
};

struct gnuplot_order {
	const struct plot *plot;
	enum gnuplot_shape shape;
	char *svg; /* comes out; the caller frees it, also after an error */
};

/*
 * Draws each of the orders.  stop, which may be NULL: set by a signal, ends gnuplot, and the
 * error is that of err_interrupted().  -ENOENT: gnuplot is not installed; -EIO: it failed,
 * with what it said; -ENOMEM.
 */
int gnuplot_draw(struct gnuplot_order *orders, size_t count,
	const volatile sig_atomic_t *stop, struct err *e);
