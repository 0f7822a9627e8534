/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Message sink; see log.h. */

#include "core/log.h"

#include <stdarg.h>
#include <stdio.h>

void log_line(const struct log *log, enum log_level level, const char *fmt, ...)
{
	_cleanup_free_ char *line = NULL;
	va_list ap;
	int n;

	if (!log || !log->emit)
		return;
	va_start(ap, fmt);
	n = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (n < 0)
		line = NULL;
	else
		log->emit(log->data, level, line);
}
