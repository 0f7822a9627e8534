/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Error chain.  See err.h for how it is used.  When memory runs out the message is lost
 * but never the code: err_message() then falls back to strerror().
 */

#include "core/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fill(struct err *e, enum err_kind kind, int code, const char *suffix,
	const char *fmt, va_list ap)
{
	_cleanup_free_ char *text = NULL;
	char *msg = NULL;

	if (!e)
		return;
	/* First: the old message may be among the arguments. */
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	err_clear(e);
	e->code = code;
	e->kind = kind;
	if (!text)
		return;
	if (!suffix)
		e->msg = take_ptr(text);
	else if (asprintf(&msg, "%s: %s", text, suffix) >= 0)
		e->msg = msg;
}

/* A call that fails without saying why leaves an errno of 0: still no success. */
static int code_or_eio(int code)
{
	return code ? code : EIO;
}

int err_set(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	code = code_or_eio(code);
	va_start(ap, fmt);
	fill(e, ERR_FAILED, code, strerror(code), fmt, ap);
	va_end(ap);
	return -code;
}

int err_say(struct err *e, int code, const char *fmt, ...)
{
	va_list ap;

	code = code_or_eio(code);
	va_start(ap, fmt);
	fill(e, ERR_FAILED, code, NULL, fmt, ap);
	va_end(ap);
	return -code;
}

int err_usage(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, ERR_USAGE, EINVAL, NULL, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int err_refuse(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, ERR_REFUSED, EPERM, NULL, fmt, ap);
	va_end(ap);
	return -EPERM;
}

static int say_interrupted(struct err *e, int signal_number, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, ERR_INTERRUPTED, signal_number, NULL, fmt, ap);
	va_end(ap);
	return -EINTR;
}

int err_interrupted(struct err *e, int signal_number)
{
	return say_interrupted(e, signal_number, "interrupted by SIG%s",
		sigabbrev_np(signal_number) ? sigabbrev_np(signal_number) : "NAL");
}

int err_wrap(struct err *e, int ret, const char *fmt, ...)
{
	_cleanup_free_ char *where = NULL;
	char *msg = NULL;
	va_list ap;
	int n;

	if (!e)
		return ret;
	va_start(ap, fmt);
	n = vasprintf(&where, fmt, ap);
	va_end(ap);
	if (n < 0) {
		where = NULL;
		return ret;
	}
	if (asprintf(&msg, "%s: %s", where, err_message(e)) >= 0) {
		free(e->msg);
		e->msg = msg;
	}
	return ret;
}

const char *err_message(const struct err *e)
{
	if (e->msg)
		return e->msg;
	return e->code ? strerror(e->code) : "";
}

void err_clear(struct err *e)
{
	free(e->msg);
	*e = (struct err){ 0 };
}
