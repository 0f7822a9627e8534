/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Volumes that a workload does not reach; see idle_volumes.h. */

#include "plan/idle_volumes.h"

#include <errno.h>
#include <string.h>

#include "core/strbuf.h"

static const char *threads_of(const struct plan_workload *w)
{
	const struct workload_type *type = workload_type_of(w->workload);

	for (size_t i = 0; i < w->setting_count; i++)
		if (!strcmp(w->keys[i], "threads"))
			return w->values[i];
	for (size_t i = 0; i < type->key_count; i++)
		if (!strcmp(type->keys[i].name, "threads"))
			return type->keys[i].default_value;
	return "1";
}

/* The smallest of "1 2 4 8". */
static unsigned long fewest(const char *list)
{
	unsigned long least = 0;
	char *end;

	for (const char *at = list; *at; at = end) {
		unsigned long value = strtoul(at, &end, 10);

		if (end == at)
			break;
		if (!least || value < least)
			least = value;
	}
	return least ? least : 1;
}

int plan_note_idle_volumes(struct experiment *x, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	if (x->notes)
		strbuf_add(&b, x->notes);
	for (size_t i = 0; i < x->workload_count; i++) {
		const struct plan_workload *w = &x->workloads[i];
		unsigned long threads = fewest(threads_of(w));

		/* A program gets all directories and does what it likes. */
		if (threads >= x->volume_count ||
			!strcmp(workload_type_of(w->workload)->name, "command"))
			continue;
		strbuf_addf(&b, "%sworkload %s: with %lu thread%s only the first %lu of %zu "
				"volumes %s used",
			b.length ? "\n" : "", w->name, threads, PLURAL(threads),
			threads, x->volume_count, threads == 1 ? "is" : "are");
	}
	if (!b.length)
		return 0;
	free(x->notes);
	x->notes = strbuf_take(&b);
	return x->notes ? 0 : err_set(e, ENOMEM, "read the experiment");
}
