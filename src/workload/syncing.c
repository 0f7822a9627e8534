/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The keys about syncs; see syncing.h. */

#include "workload/syncing.h"

#include <fcntl.h>
#include <string.h>

#include "core/macros.h"
#include "core/units.h"
#include "workload/values.h"

static const char *const words[] = {
	[SYNCING_NONE] = "none",
	[SYNCING_FSYNC] = "fsync",
	[SYNCING_FDATASYNC] = "fdatasync",
	[SYNCING_DSYNC] = "dsync",
	[SYNCING_SYNC] = "sync",
};

int syncing_set(struct syncing *s, const char *key, const char *value, struct err *e)
{
	if (!strcmp(key, "sync_every"))
		return units_parse_count(value, 0, INT64_MAX, &s->every, e);
	if (strcmp(key, "sync"))
		return 1;
	return values_parse_word(strcmp(value, "osync") ? value : "sync", words,
		ARRAY_SIZE(words), &s->kind, e);
}

int syncing_check(const struct syncing *s, struct err *e)
{
	if (s->every && !syncing_calls(s))
		return err_usage(e, "sync_every goes with sync=fsync and sync=fdatasync");
	return 0;
}

int syncing_open_flags(const struct syncing *s)
{
	return s->kind == SYNCING_DSYNC ? O_DSYNC : s->kind == SYNCING_SYNC ? O_SYNC : 0;
}

const char *syncing_word(const struct syncing *s)
{
	return words[s->kind];
}
