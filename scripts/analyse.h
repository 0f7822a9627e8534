/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What analysers of one file at a time cannot know of the others: what records an error
 * returns it, so that "0: ok" is never seen on these paths.  scripts/analyse includes this
 * before each file but core/err.c; tests/unit/test_core_err.c shows that it is true.
 */

#include "core/err.h"

_Noreturn void analyse_never(void);

static inline int analyse_negative(int r)
{
	if (r >= 0)
		analyse_never();
	return r;
}

#define err_set(...) analyse_negative(err_set(__VA_ARGS__))
#define err_say(...) analyse_negative(err_say(__VA_ARGS__))
#define err_usage(...) analyse_negative(err_usage(__VA_ARGS__))
#define err_refuse(...) analyse_negative(err_refuse(__VA_ARGS__))
#define err_interrupted(...) analyse_negative(err_interrupted(__VA_ARGS__))
#define err_wrap(e, r, ...)                                                              \
	({                                                                               \
		int wrapped_ = (r);                                                      \
		(void)err_wrap(e, wrapped_, __VA_ARGS__);                                \
		wrapped_;                                                                \
	})
