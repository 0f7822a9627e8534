/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Where messages go.  Working code never prints: it hands lines to a `struct log` which
 * its caller gave it.  cli installs the sink that writes to stderr; tests install one
 * that collects.  A NULL log swallows everything.
 */

#include "core/macros.h"

enum log_level {
	LOG_WARNING,  /* the user should know, even with --quiet */
	LOG_NOTE,     /* what is being done */
	LOG_DETAIL,   /* only with --verbose */
	LOG_PROGRESS, /* replaced by the next line on a terminal */
	LOG_ANSWER,   /* somebody has asked for it: also with --quiet */
};

struct log {
	void (*emit)(void *data, enum log_level level, const char *line);
	void *data;
};

/* One line without newline. */
void log_line(const struct log *log, enum log_level level, const char *fmt, ...)
	_printf_(3, 4);
