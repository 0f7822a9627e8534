/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Idioms that every file may use: cleanup variables, moving ownership out of them,
 * and compiler-checked contracts.  A cleanup variable is initialised where it is
 * declared; what is handed to a caller leaves it through take_ptr()/take_fd().
 */

#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _must_check_ __attribute__((warn_unused_result))
#define _unused_ __attribute__((unused))

static inline void freep(void *p)
{
	free(*(void **)p);
}

static inline void closep(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define _cleanup_free_ _cleanup_(freep)
#define _cleanup_close_ _cleanup_(closep)

/* Defines fnp(), the cleanup function for pointers that fn() frees. */
/* NOLINTBEGIN(bugprone-macro-parentheses): around a type there can be none. */
#define DEFINE_CLEANUP(type, fn)                                                         \
	static inline void fn##p(type *p)                                                \
	{                                                                                \
		if (*p)                                                                  \
			fn(*p);                                                          \
	}
/* NOLINTEND(bugprone-macro-parentheses) */

#define take_ptr(p)                                                                      \
	({                                                                               \
		__typeof__(p) taken_ = (p);                                              \
		(p) = NULL;                                                              \
		taken_;                                                                  \
	})
#define take_fd(fd)                                                                      \
	({                                                                               \
		int taken_ = (fd);                                                       \
		(fd) = -1;                                                               \
		taken_;                                                                  \
	})

#define ARRAY_SIZE(a)                                                                    \
	(sizeof(a) / sizeof((a)[0]) +                                                    \
		0 * sizeof(struct {                                                      \
			int not_a_pointer : 1 - 2 * __builtin_types_compatible_p(        \
							__typeof__(a), __typeof__(&(a)[0])); \
		}))

/* "%u block%s", n, PLURAL(n) */
#define PLURAL(n) ((n) == 1 ? "" : "s")

#define MIN(a, b)                                                                        \
	({                                                                               \
		__typeof__(a) min_a_ = (a);                                              \
		__typeof__(b) min_b_ = (b);                                              \
		min_a_ < min_b_ ? min_a_ : min_b_;                                       \
	})
#define MAX(a, b)                                                                        \
	({                                                                               \
		__typeof__(a) max_a_ = (a);                                              \
		__typeof__(b) max_b_ = (b);                                              \
		max_a_ > max_b_ ? max_a_ : max_b_;                                       \
	})
