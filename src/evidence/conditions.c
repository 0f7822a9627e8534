/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Conditions and validity; see conditions.h.
 *
 * A step of the clock is told from slewing by its size: NTP slews at most 500 ppm, so that
 * half a second and a thousandth of the time are more than it ever does.  Processors count
 * thermal throttling in thermal_throttle/ (x86); NVMe disks raise temp1_alarm with their
 * critical warning (drivers/nvme/host/hwmon.c).
 */

#include "evidence/conditions.h"

#include <errno.h>
#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/strbuf.h"
#include "evidence/environment.h"

#define STEP_NS (NS_PER_S / 2)
#define SLEW_PART 1000
#define FOREIGN_SHARE 0.02
#define FOREIGN_BYTES (UINT64_C(4) << 20) /* probing for signatures reads less */

static int64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * (int64_t)NS_PER_S + t.tv_nsec;
}

/* The sum of the numbers in all files of a pattern. */
static uint64_t sum_of(const char *pattern)
{
	glob_t files;
	uint64_t sum = 0;

	if (glob(pattern, 0, NULL, &files))
		return 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		_cleanup_free_ char *line = fileio_read_line("%s", files.gl_pathv[i]);

		sum += line ? strtoull(line, NULL, 10) : 0;
	}
	globfree(&files);
	return sum;
}

static uint64_t swap_ins(void)
{
	_cleanup_free_ char *text = NULL;
	const char *at;

	if (fileio_read("/proc/vmstat", &text, NULL, NULL))
		return 0;
	at = strstr(text, "\npswpin ");
	return at ? strtoull(at + strlen("\npswpin "), NULL, 10) : 0;
}

static uint64_t alarms_of(const char *disk)
{
	char pattern[200];

	snprintf(pattern, sizeof(pattern),
		"/sys/class/block/%.60s/device/hwmon*/temp1_alarm", disk);
	return sum_of(pattern);
}

static char *settings_of(const char *const *disks, size_t count)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	_cleanup_free_ char *governor = fileio_read_line(
		"/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");

	for (size_t i = 0; i < count; i++) {
		json_auto_t *queue = environment_queue(disks[i]);
		_cleanup_free_ char *text =
			queue ? json_dumps(queue, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

		strbuf_addf(&b, "%s %s\n", disks[i], text ? text : "");
	}
	strbuf_addf(&b, "governor %s\n", governor ? governor : "");
	return strbuf_take(&b);
}

int conditions_read(
	struct conditions *c, const char *const *disks, size_t count, struct err *e)
{
	int64_t boot = clock_ns(CLOCK_BOOTTIME);

	*c = (struct conditions){.wall_offset_ns = clock_ns(CLOCK_REALTIME) - boot,
		.asleep_ns = boot - clock_ns(CLOCK_MONOTONIC),
		.at_ns = (uint64_t)boot,
		.throttles = sum_of("/sys/devices/system/cpu/cpu*/thermal_throttle/"
				    "*_throttle_count"),
		.swap_ins = swap_ins(),
		.settings = settings_of(disks, count)};
	for (size_t i = 0; i < count; i++)
		c->alarms += alarms_of(disks[i]);
	return c->settings ? 0 : err_set(e, ENOMEM, "read the conditions");
}

void conditions_deinit(struct conditions *c)
{
	free(c->settings);
	*c = (struct conditions){0};
}

static const struct {
	enum validity_rule rule;
	const char *word;
} rules[] = {
	{RULE_IO_ERROR, "io_error"},
	{RULE_AUDIT, "audit_failed"},
	{RULE_FOREIGN_IO, "foreign_io"},
	{RULE_THROTTLED, "throttled"},
	{RULE_CLOCK, "clock_step"},
	{RULE_SETTINGS, "settings_changed"},
	{RULE_SWAP, "swap"},
};

const char *validity_word(enum validity_rule rule)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].rule == rule)
			return rules[i].word;
	return "unknown";
}

const char *validity_text(unsigned mask)
{
	static char text[128];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (mask & rules[i].rule)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				n ? ", " : "", rules[i].word);
	return text;
}

unsigned validity_rule_of(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!strcmp(rules[i].word, word))
			return rules[i].rule;
	return 0;
}

unsigned validity_add(json_t *reasons, enum validity_rule rule, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(reasons,
		json_pack("{ss,so}", "rule", validity_word(rule), "detail",
			json_string(text) ?: json_string("not UTF-8")));
	return rule;
}

/* The first line of b that is not in the same place in a. */
static const char *changed_line(const char *a, const char *b)
{
	size_t i = 0;

	while (a[i] && a[i] == b[i])
		i++;
	while (i && b[i - 1] != '\n')
		i--;
	return b + i;
}

static unsigned judge_clock(
	json_t *reasons, const struct conditions *a, const struct conditions *b)
{
	int64_t slept = b->asleep_ns - a->asleep_ns;
	int64_t step = b->wall_offset_ns - a->wall_offset_ns;
	uint64_t allowed = STEP_NS + (b->at_ns - a->at_ns) / SLEW_PART;

	if (slept > (int64_t)STEP_NS)
		return validity_add(reasons, RULE_CLOCK, "the machine slept for %.1f s",
			(double)slept / NS_PER_S);
	if ((uint64_t)(step < 0 ? -step : step) > allowed)
		return validity_add(reasons, RULE_CLOCK, "the clock was set by %.1f s",
			(double)step / NS_PER_S);
	return 0;
}

unsigned validity_of_conditions(
	json_t *reasons, const struct conditions *a, const struct conditions *b)
{
	unsigned broken = judge_clock(reasons, a, b);

	if (b->throttles > a->throttles)
		broken |= validity_add(reasons, RULE_THROTTLED,
			"the processors were throttled %llu times for heat",
			(unsigned long long)(b->throttles - a->throttles));
	if (b->alarms)
		broken |= validity_add(
			reasons, RULE_THROTTLED, "a disk raises its temperature alarm");
	if (b->swap_ins > a->swap_ins)
		broken |= validity_add(reasons, RULE_SWAP,
			"%llu pages were read back from swap",
			(unsigned long long)(b->swap_ins - a->swap_ins));
	if (strcmp(a->settings, b->settings))
		broken |= validity_add(reasons, RULE_SETTINGS, "settings changed to %.*s",
			(int)strcspn(changed_line(a->settings, b->settings), "\n"),
			changed_line(a->settings, b->settings));
	return broken;
}

/* Is this the whole disk of the partition?  "sdb" of "sdb1", "nvme0n1" of "nvme0n1p2". */
static bool is_disk_of(const char *disk, const char *partition)
{
	size_t n = strlen(disk);

	if (strncmp(disk, partition, n) || !partition[n])
		return false;
	n += partition[n] == 'p';
	return partition[n] && strspn(partition + n, "0123456789") == strlen(partition + n);
}

static uint64_t bytes_of(const struct evidence_disk *d)
{
	return d->read_bytes + d->write_bytes;
}

static bool is_much(uint64_t foreign, uint64_t all)
{
	return foreign > FOREIGN_BYTES && (double)foreign > FOREIGN_SHARE * (double)all;
}

/* A disk against our partitions on it. */
static unsigned judge_disk(json_t *reasons, const struct result_evidence *v,
	const struct evidence_disk *disk, const char *phase)
{
	uint64_t own = 0, all = bytes_of(disk);
	bool any = false;

	for (size_t i = 0; i < v->disk_count; i++)
		if (!v->disks[i].below && is_disk_of(disk->name, v->disks[i].name)) {
			own += bytes_of(&v->disks[i]);
			any = true;
		}
	if (!any || all <= own || !is_much(all - own, all))
		return 0;
	return validity_add(reasons, RULE_FOREIGN_IO,
		"%s: others moved %.1f MiB on %s, beside our %.1f MiB", phase,
		(double)(all - own) / (1 << 20), disk->name, (double)own / (1 << 20));
}

static unsigned judge_reads(
	json_t *reasons, const struct result_evidence *v, const char *phase)
{
	uint64_t reads = 0, all = 0;

	for (size_t i = 0; i < v->disk_count; i++)
		if (!v->disks[i].below) {
			reads += v->disks[i].read_bytes;
			all += bytes_of(&v->disks[i]);
		}
	if (!v->process.known || reads <= v->process.device_read_bytes ||
		!is_much(reads - v->process.device_read_bytes, all))
		return 0;
	return validity_add(reasons, RULE_FOREIGN_IO,
		"%s: %.1f MiB were read from the devices for others", phase,
		(double)(reads - v->process.device_read_bytes) / (1 << 20));
}

unsigned validity_of_evidence(json_t *reasons, const struct result_evidence *v,
	const char *phase, bool own_reads)
{
	unsigned broken = 0;

	for (size_t i = 0; i < v->disk_count; i++)
		if (v->disks[i].below)
			broken |= judge_disk(reasons, v, &v->disks[i], phase);
	return own_reads ? broken | judge_reads(reasons, v, phase) : broken;
}
