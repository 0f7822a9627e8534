/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The keys that workloads have in common; see pacing.h. */

#include "workload/pacing.h"

#include <string.h>

#include "core/clock.h"
#include "core/units.h"

int pacing_set(struct pace *p, const char *key, const char *value, struct err *e)
{
	uint64_t rate = 0;
	int r;

	if (!strcmp(key, "think"))
		return units_parse_duration(value, &p->think_ns, e);
	if (!strcmp(key, "runtime"))
		return units_parse_duration(value, &p->runtime_ns, e);
	if (strcmp(key, "rate"))
		return 1;
	r = units_parse_count(value, 0, NS_PER_S, &rate, e);
	if (!r)
		p->rate = (double)rate;
	return r;
}

int pacing_check(const struct pace *p, struct err *e)
{
	if (p->rate > 0 && p->think_ns)
		return err_usage(e, "rate and think exclude each other: with a rate the "
				    "operations begin at fixed times");
	return 0;
}
