/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * withdisks NAME=BYTES... -- COMMAND [ARG...]
 *
 * Runs a command in a sandbox (sandbox.h) with these disks: their paths are in the
 * environment variables NAME, their numbers as MAJ:MIN in NAME_DEV. Everything vanishes
 * with the command, whichever way it ends.
 */
#include "sandbox.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_disk(struct sandbox *s, const char *arg)
{
	const char *equals = strchr(arg, '=');
	struct sandbox_disk *d;
	char *end;

	if (!equals || equals == arg || (size_t)(equals - arg) >= sizeof(d->name))
		die("'%s' is not NAME=BYTES", arg);
	if (s->n_disks == SANDBOX_DISKS_MAX)
		die("too many disks");
	d = &s->disk[s->n_disks++];
	memcpy(d->name, arg, (size_t)(equals - arg));
	d->bytes = strtoull(equals + 1, &end, 10);
	if (*end == 'M')
		d->bytes <<= 20;
	else if (*end || !d->bytes)
		die("'%s' is not NAME=BYTES", arg);
}

static void export_numbers(const struct sandbox *s)
{
	for (unsigned int i = 0; i < s->n_disks; i++) {
		const struct sandbox_disk *d = &s->disk[i];
		char *name = xasprintf("%s_DEV", d->name);
		char *value = xasprintf("%u:%u", d->major_number, d->minor_number);

		setenv(name, value, 1);
		free(name);
		free(value);
	}
}

int main(int argc, char **argv)
{
	struct sandbox s = {0};
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		add_disk(&s, argv[i]);
	if (!s.n_disks || i + 1 >= argc)
		die("usage: withdisks NAME=BYTES... -- COMMAND [ARG...]");
	sandbox_enter(&s);
	export_numbers(&s);
	execvp(argv[i + 1], argv + i + 1);
	die_errno("run %s", argv[i + 1]);
}
