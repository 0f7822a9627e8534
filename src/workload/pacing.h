/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The keys that workloads have in common: how fast and how long; see pace.h. */

#include <stdbool.h>

#include "core/err.h"
#include "workload/pace.h"

/* For the table of keys. */
#define PACING_KEYS                                                                      \
	{"rate", "COUNT", "0",                                                           \
		"operations a second of all threads, begun on time whatever happened to "   \
		"those before; 0: as fast as they go"},                                  \
	{"think", "TIME", "0", "pause of a thread between two operations"},             \
	{                                                                                \
		"runtime", "TIME", "0", "begin no operation after this; 0: no limit"     \
	}

/* Sets one of them.  Returns 1 when the key is none of these, else as
 * workload_type.set(). */
int pacing_set(struct pace *p, const char *key, const char *value, struct err *e);

/* rate and think exclude each other. */
int pacing_check(const struct pace *p, struct err *e);

static inline bool pacing_is_on(const struct pace *p)
{
	return p->rate > 0 || p->think_ns || p->runtime_ns;
}
