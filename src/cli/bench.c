/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Running one workload in directories, without any move; see bench.h. */

#include "cli/bench.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <jansson.h>

#include "cli/signals.h"
#include "core/clock.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "device/claim.h"
#include "device/sysfs.h"
#include "result/result_json.h"
#include "scratch/lease.h"
#include "workload/program.h"
#include "workload/space.h"

void bench_offer_workloads(struct strbuf *words)
{
	char **names = NULL;
	size_t count = 0;

	for (size_t i = 0; i < workload_type_count(); i++)
		strbuf_addf(words, " %s", workload_type_at(i)->name);
	if (program_list(&names, &count, NULL))
		return;
	for (size_t i = 0; i < count; i++) {
		strbuf_addf(words, " %s", names[i]);
		free(names[i]);
	}
	free(names);
}

int bench_set(struct workload *w, const char *assignment, struct err *e)
{
	const char *equals = strchr(assignment, '=');
	_cleanup_free_ char *key = NULL;

	if (!equals || equals == assignment)
		return err_usage(e, "--set takes KEY=VALUE, not \"%s\"", assignment);
	key = strndup(assignment, (size_t)(equals - assignment));
	if (!key)
		return err_set(e, ENOMEM, "--set");
	return workload_set(w, key, equals + 1, e);
}

struct devices {
	struct claim **claims;
	const char **paths; /* the claims' own */
	size_t count;
};

static void devices_deinit(struct devices *d)
{
	for (size_t i = 0; i < d->count; i++)
		claim_release(d->claims[i]);
	free(d->claims);
	free(d->paths);
}

/* Holds the devices that are to be overwritten; what is neither leased nor a scratch disk
 * of ours is refused. */
static int devices_hold(struct devices *d, const struct bench *b, struct err *e)
{
	int r = 0;

	d->claims = calloc(b->directory_count, sizeof(*d->claims));
	d->paths = calloc(b->directory_count, sizeof(*d->paths));
	if (!d->claims || !d->paths)
		return err_set(e, ENOMEM, "devices");
	while (!r && d->count < b->directory_count) {
		size_t i = d->count;

		r = claim_take(&d->claims[i], b->directories[i], true, e);
		if (r)
			return r;
		d->count++;
		d->paths[i] = claim_path(d->claims[i]);
		r = lease_require_overwrite(d->claims[i], e);
	}
	return r;
}

/* The kernel's name of what a directory lies on; NULL: no block device. */
static char *device_below(const char *directory)
{
	_cleanup_free_ char *dir = NULL;
	struct stat st;

	if (stat(directory, &st))
		return NULL;
	dir = sysfs_device_dir(SYSFS_ROOT, st.st_dev);
	return dir ? sysfs_kernel_name(dir) : NULL;
}

/* A workload that fails knows the path of its file, which does not say whose error it is. */
static int name_devices(const struct bench *b, int r, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf names = {0};
	_cleanup_free_ char *message = NULL;

	if (b->raw || (r != -EIO && r != -EROFS))
		return r;
	for (size_t i = 0; i < b->directory_count; i++) {
		_cleanup_free_ char *name = device_below(b->directories[i]);

		if (name)
			strbuf_addf(&names, "%s%s lies on /dev/%s", names.length ? ", " : "",
				b->directories[i], name);
	}
	message = strdup(err_message(e));
	if (!names.length || !message)
		return r;
	err_clear(e);
	return err_say(e, -r, "%s; %s", message, strbuf_text(&names));
}

int bench_run(
	struct cli *cli, const struct bench *b, struct result_run *run, struct err *e)
{
	struct workload_env env = {.directories = b->directories,
		.directory_count = b->directory_count,
		.seed = clock_wall_ns(),
		.drop_caches = b->drop_caches,
		.stop = signals_catch(),
		.log = cli_log(cli),
		.observer = b->observer};
	_cleanup_(devices_deinit) struct devices devices = {0};
	int r = workload_check(b->workload, e);

	if (!r)
		r = workload_ready(b->workload, e);
	if (!r && b->seed)
		r = units_parse_count(b->seed, 0, UINT64_MAX, &env.seed, e);
	if (!r && b->drop_caches && geteuid() != 0)
		r = err_refuse(e,
			"dropping the page cache needs root; without, the cache "
			"of the workload's own files is dropped");
	if (!r && b->raw) {
		r = devices_hold(&devices, b, e);
		env.directories = devices.paths;
	} else if (!r) {
		r = workload_check_space(
			b->workload, b->directories, b->directory_count, e);
	}
	if (r)
		return r;
	log_line(env.log, LOG_DETAIL, "seed %llu", (unsigned long long)env.seed);
	r = workload_run(b->workload, &env, run, e);
	return r ? name_devices(b, r, e) : 0;
}

int bench_print_json(const struct result_run *run, struct err *e)
{
	json_auto_t *json = result_run_to_json(run);

	if (!json)
		return err_set(e, ENOMEM, "write JSON");
	if (json_dumpf(json, stdout, JSON_INDENT(2)) || putchar('\n') == EOF)
		return err_set(e, errno, "write to standard output");
	return 0;
}
