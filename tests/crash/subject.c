/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a recorded case: DIR/case has lines "key=value" (name, fstype, command, way),
 * DIR/V.img, DIR/J1.img, DIR/J2.img are the devices at the start, DIR/V.end ... at the
 * end.
 */
#include "judge.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const disk_names[] = {"V", "J1", "J2"};

/* "WHEN RECORDS GOAL COMMAND": cut, boot or raw; kept, lost or needed; target or origin. */
static void add_way(struct subject *s, const char *text)
{
	static const char *const whens[] = {"cut", "boot", "raw"};
	char when[8] = "", records[8] = "", goal[8] = "";
	struct way *w = &s->way[s->n_ways];
	int used = 0;

	if (s->n_ways == WAYS_MAX ||
		sscanf(text, "%7s %7s %7s %n", when, records, goal, &used) != 3)
		die("'%s' is no way", text);
	for (unsigned int i = 0; i < ARRAY_SIZE(whens); i++)
		if (!strcmp(when, whens[i]))
			w->when = (enum way_when)i;
	w->lost = !strcmp(records, "lost");
	w->needed = !strcmp(records, "needed");
	w->back = !strcmp(goal, "origin");
	w->command = xasprintf("%s", text + used);
	s->n_ways++;
}

static void set(struct subject *s, const char *key, const char *value, const char *dir)
{
	char *copy = xasprintf("%s", value);

	if (!strcmp(key, "name"))
		s->name = copy;
	else if (!strcmp(key, "fstype"))
		s->fstype = copy;
	else if (!strcmp(key, "command"))
		s->command = copy;
	else if (!strcmp(key, "way"))
		add_way(s, value);
	else
		die("%s/case: '%s' is not known", dir, key);
}

static void read_case(struct subject *s, const char *dir)
{
	char *path = xasprintf("%s/case", dir), *line = NULL;
	FILE *f = fopen(path, "re");
	size_t room = 0;

	if (!f)
		die_errno("open %s", path);
	while (getline(&line, &room, f) > 0) {
		char *value = strchr(line, '=');

		line[strcspn(line, "\n")] = 0;
		if (!value)
			continue;
		*value++ = 0;
		set(s, line, value, dir);
	}
	fclose(f);
	free(line);
	free(path);
	if (!s->name || !s->fstype || !s->command)
		die("%s/case: name, fstype and command are needed", dir);
}

static void read_placement(
	struct subject *s, const char *dir, const char *suffix, struct placement *p)
{
	int fd[SANDBOX_DISKS_MAX];

	for (unsigned int i = 0; i < s->n_disks; i++) {
		char *path = xasprintf("%s/%s.%s", dir, s->disk[i], suffix);

		fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (fd[i] < 0)
			die_errno("open %s", path);
		free(path);
	}
	placement_read(p, fd, s->disk, s->n_disks);
	for (unsigned int i = 0; i < s->n_disks; i++)
		close(fd[i]);
}

void subject_load(struct subject *s, const char *dir)
{
	*s = (struct subject){0};
	read_case(s, dir);
	for (unsigned int i = 0; i < ARRAY_SIZE(disk_names); i++) {
		char *path = xasprintf("%s/%s.img", dir, disk_names[i]);

		if (!access(path, R_OK)) {
			s->disk[s->n_disks] = disk_names[i];
			image_load(&s->img[s->n_disks++], path);
		}
		free(path);
	}
	if (!s->n_disks || strcmp(s->disk[0], "V"))
		die("%s: V.img is missing", dir);
	read_placement(s, dir, "img", &s->from);
	read_placement(s, dir, "end", &s->to);
}
