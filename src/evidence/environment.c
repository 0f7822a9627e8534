/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Facts about the machine; see environment.h.  Single-line files of proc and sysfs are
 * listed in tables: the key under which the fact is kept and the file.  Numbers stay
 * numbers; whatever else is in such a file is kept as text.
 */

#include "evidence/environment.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/process.h"
#include "core/strbuf.h"

struct fact {
	const char *key, *path;
};

static const struct fact host_facts[] = {
	{"command_line", "/proc/cmdline"},
	{"taint", "/proc/sys/kernel/tainted"},
	{"cpu_frequency_driver", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"},
	{"cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"},
	{"cpu_energy_preference",
		"/sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference"},
	{"cpu_idle_governor", "/sys/devices/system/cpu/cpuidle/current_governor"},
	{"pcie_power_policy", "/sys/module/pcie_aspm/parameters/policy"},
	{"laptop_mode", "/proc/sys/vm/laptop_mode"},
	{"dirty_ratio", "/proc/sys/vm/dirty_ratio"},
	{"dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio"},
	{"dirty_bytes", "/proc/sys/vm/dirty_bytes"},
	{"dirty_background_bytes", "/proc/sys/vm/dirty_background_bytes"},
	{"dirty_expire_centisecs", "/proc/sys/vm/dirty_expire_centisecs"},
	{"dirty_writeback_centisecs", "/proc/sys/vm/dirty_writeback_centisecs"},
	{"swappiness", "/proc/sys/vm/swappiness"},
};

/* What is never twice the same; a difference in it is no finding by itself. */
static const struct fact host_readings[] = {
	{"load", "/proc/loadavg"},
	{"pressure_cpu", "/proc/pressure/cpu"},
	{"pressure_io", "/proc/pressure/io"},
	{"pressure_memory", "/proc/pressure/memory"},
};

static const struct fact queue_facts[] = {
	{"scheduler", "scheduler"},
	{"write_cache", "write_cache"},
	{"fua", "fua"},
	{"rotational", "rotational"},
	{"requests", "nr_requests"},
	{"read_ahead_kib", "read_ahead_kb"},
	{"max_sectors_kib", "max_sectors_kb"},
	{"logical_block_bytes", "logical_block_size"},
	{"physical_block_bytes", "physical_block_size"},
	{"write_back_throttle_us", "wbt_lat_usec"},
	{"merges_off", "nomerges"},
	{"completion_affinity", "rq_affinity"},
	{"poll", "io_poll"},
};

/* A line of a file: a number if it is one, text if not, null if there is none. */
static json_t *fact_to_json(const char *line)
{
	char *end;
	long long number;

	if (!line)
		return json_null();
	errno = 0;
	number = strtoll(line, &end, 10);
	if (!errno && end != line && !*end)
		return json_integer(number);
	/* A command line may hold bytes that are not UTF-8. */
	return json_string(line) ?: json_null();
}

static bool add_facts(
	json_t *to, const char *directory, const struct fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *line =
			fileio_read_line("%s%s", directory, facts[i].path);
		size_t n = line ? strlen(line) : 0;

		while (n && line[n - 1] == ' ')
			line[--n] = '\0';
		if (json_object_set_new(to, facts[i].key, fact_to_json(line)))
			return false;
	}
	return true;
}

/* The first "key : value" of a file like /proc/cpuinfo; NULL when there is none. */
static char *find_field(const char *path, const char *key)
{
	_cleanup_free_ char *text = NULL;
	size_t n = strlen(key);

	if (fileio_read(path, &text, NULL, NULL))
		return NULL;
	for (const char *line = text; *line; line = strchrnul(line, '\n') + 1) {
		if (!strncmp(line, key, n)) {
			const char *value = line + n + strspn(line + n, " \t:");

			return strndup(value, strcspn(value, "\n"));
		}
		if (!strchr(line, '\n'))
			break;
	}
	return NULL;
}

static bool add_memory(json_t *to, const char *key, const char *field)
{
	_cleanup_free_ char *text = find_field("/proc/meminfo", field);
	unsigned long long kib;

	if (!text || sscanf(text, "%llu kB", &kib) != 1)
		return !json_object_set_new(to, key, json_null());
	return !json_object_set_new(to, key, json_integer((json_int_t)kib * 1024));
}

/* "1.47.0", from "mke2fs 1.47.0 (5-Feb-2023)". */
static json_t *e2fsprogs_version(void)
{
	static const char *const words[] = {"mke2fs", "-V", NULL};
	_cleanup_(process_outcome_deinit) struct process_outcome o = {0};
	char version[32];

	if (process_run(words, NULL, &o, NULL) ||
		sscanf(o.output, "mke2fs %31s", version) != 1)
		return json_null();
	return json_string(version) ?: json_null();
}

static bool add_processors(json_t *to)
{
	_cleanup_free_ char *model = find_field("/proc/cpuinfo", "model name");

	return !json_object_set_new(to, "cpu_model", fact_to_json(model)) &&
	       !json_object_set_new(
		       to, "cpus", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
}

static bool add_kernel(json_t *to)
{
	struct utsname names;

	if (uname(&names))
		return true;
	return !json_object_set_new(to, "host", json_string(names.nodename)) &&
	       !json_object_set_new(to, "kernel", json_string(names.release)) &&
	       !json_object_set_new(to, "kernel_version", json_string(names.version)) &&
	       !json_object_set_new(to, "machine", json_string(names.machine));
}

static bool add_readings(json_t *to)
{
	json_t *readings = json_object();

	return !json_object_set_new(to, "readings", readings) &&
		add_facts(readings, "", host_readings, ARRAY_SIZE(host_readings)) &&
		add_memory(readings, "memory_available_bytes", "MemAvailable") &&
		add_memory(readings, "memory_dirty_bytes", "Dirty") &&
		add_memory(readings, "memory_writeback_bytes", "Writeback");
}

json_t *environment_host(const char *version)
{
	json_auto_t *json = NULL;
	char now[32];

	clock_format_utc(clock_wall_ns(), now);
	json = json_pack("{ss,ss,so}", "time", now, "jbdlab", version, "e2fsprogs",
		e2fsprogs_version());
	if (!json || !add_kernel(json) || !add_processors(json) ||
		!add_memory(json, "memory_bytes", "MemTotal") ||
		!add_facts(json, "", host_facts, ARRAY_SIZE(host_facts)) ||
		!add_readings(json))
		return NULL;
	return take_ptr(json);
}

json_t *environment_queue(const char *kernel_name)
{
	json_auto_t *json = json_object();
	char directory[300];

	snprintf(directory, sizeof(directory), "/sys/class/block/%s/queue/", kernel_name);
	/* A partition has no queue; its disk is the directory above. */
	if (access(directory, F_OK))
		snprintf(directory, sizeof(directory), "/sys/class/block/%s/../queue/",
			kernel_name);
	if (!json || !add_facts(json, directory, queue_facts, ARRAY_SIZE(queue_facts)))
		return NULL;
	return take_ptr(json);
}

/* Undoes the octal escapes of mountinfo in place. */
static void unescape(char *text)
{
	char *out = text;

	for (char *p = text; *p; p++) {
		unsigned code;

		if (*p == '\\' && sscanf(p + 1, "%3o", &code) == 1) {
			*out++ = (char)code;
			p += 3;
		} else {
			*out++ = *p;
		}
	}
	*out = '\0';
}

/* "id parent major:minor root target options ... - type source super_options" */
static char *options_of_line(char *line, const char *target)
{
	char *save = NULL, *fields[6], *super, *options;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		fields[i] = strtok_r(i ? NULL : line, " ", &save);
		if (!fields[i])
			return NULL;
	}
	unescape(fields[4]);
	super = save ? strstr(save, "- ") : NULL;
	if (strcmp(fields[4], target) || !super)
		return NULL;
	for (unsigned i = 0; super && i < 3; i++) {
		super = strchr(super, ' ');
		super = super ? super + 1 : NULL;
	}
	if (!super || asprintf(&options, "%s;%s", fields[5], super) < 0)
		return NULL;
	return options;
}

int environment_mount(const char *target, char **options, struct err *e)
{
	_cleanup_free_ char *text = NULL, *found = NULL;
	char *save = NULL;
	int r = fileio_read("/proc/self/mountinfo", &text, NULL, e);

	if (r)
		return r;
	/* The last mount on a target is the one that is seen. */
	for (char *line = strtok_r(text, "\n", &save); line;
		line = strtok_r(NULL, "\n", &save)) {
		char *here = options_of_line(line, target);

		if (here) {
			free(found);
			found = here;
		}
	}
	if (!found)
		return err_say(e, ENOENT, "%s is not mounted", target);
	*options = take_ptr(found);
	return 0;
}
