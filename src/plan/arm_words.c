/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Variables and words of the programs of an arm; see arm_words.h. */

#include "plan/arm_words.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "workload/program.h"

/* Appends PREFIXname=value. */
static bool add(char **list, size_t *count, const char *prefix, const char *name,
	const char *value)
{
	char *text;

	if (asprintf(&text, "%s%s=%s", prefix, name, value ? value : "") < 0)
		return false;
	for (char *p = text; *p != '='; p++)
		if (!isalnum((unsigned char)*p))
			*p = '_';
	list[(*count)++] = text;
	return true;
}

char **arm_environment(const struct arm_facts *f)
{
	const struct experiment *x = f->x;
	char **list = calloc(x->volume_count + x->disk_count + 5, sizeof(*list));
	size_t n = 0;
	char block[16];
	bool ok = list;

	snprintf(block, sizeof(block), "%u", f->block + 1);
	ok = ok && add(list, &n, "JBDLAB_ARM", "", f->arm->name) &&
	     add(list, &n, "JBDLAB_BLOCK", "", block) &&
	     add(list, &n, "JBDLAB_JOURNAL", "", f->journal) &&
	     add(list, &n, "JBDLAB_VOLUME", "", f->volumes ? f->volumes[0] : NULL);
	for (size_t i = 0; ok && i < x->volume_count; i++)
		ok = add(list, &n, "JBDLAB_VOLUME_", x->volumes[i].name,
			f->volumes ? f->volumes[i] : NULL);
	for (size_t i = 0; ok && i < x->disk_count; i++)
		ok = add(list, &n, "JBDLAB_DISK_", x->disks[i].name,
			f->disks ? f->disks[i] : NULL);
	if (ok)
		return list;
	arm_environment_free(list);
	return NULL;
}

void arm_environment_free(char **environment)
{
	for (size_t i = 0; environment && environment[i]; i++)
		free(environment[i]);
	free(environment);
}

static const char *look_up(const void *data, const char *name)
{
	size_t n = strlen(name);

	for (char *const *p = data; *p; p++)
		if (!strncmp(*p, name, n) && (*p)[n] == '=')
			return *p + n + 1;
	return NULL;
}

int arm_words(const char *line, char **environment, char ***argv, struct err *e)
{
	return program_words(line, look_up, environment, argv, e);
}
