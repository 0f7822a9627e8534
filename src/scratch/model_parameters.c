/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Model parameters; see model_parameters.h.
 *
 * The figures of the built-in disks are those of their kind.  hdd-7200: a SATA drive, 1 ms
 * from track to track, 6.9 ms average seek (a root law gives the average of random seeks
 * as min + 8/15 of the rest), 90 random reads a second, 150 MiB/s.  hdd-10k: a SAS drive of
 * two and a half inches, 4.5 ms average.  ssd: a SATA drive that acknowledges writes from
 * memory and takes a millisecond to make them durable.
 *
 * A scratch disk is small, but its model is a whole disk: seek_max is the time across its
 * size, so that an inline journal in its middle is as far away as on a big volume.
 */

#include "scratch/model_parameters.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/nearest.h"
#include "core/units.h"

#define MIB (UINT64_C(1) << 20)

static const struct model_parameters builtins[] = {
	{
		.base = "hdd-7200",
		.overhead_ns = 50 * NS_PER_US,
		.interface_bytes_per_s = 300 * MIB,
		.cache_bytes = 32 * MIB,
		.flush_ns = 2 * NS_PER_MS,
		.channels = 1,
		.transfer_bytes_per_s = 150 * MIB,
		.rpm = 7200,
		.seek_min_ns = 1 * NS_PER_MS,
		.seek_max_ns = 12 * NS_PER_MS,
		.prefetch_bytes = 1 * MIB,
	},
	{
		.base = "hdd-10k",
		.overhead_ns = 30 * NS_PER_US,
		.interface_bytes_per_s = 600 * MIB,
		.cache_bytes = 64 * MIB,
		.flush_ns = 1 * NS_PER_MS,
		.channels = 1,
		.transfer_bytes_per_s = 200 * MIB,
		.rpm = 10000,
		.seek_min_ns = 400 * NS_PER_US,
		.seek_max_ns = 8 * NS_PER_MS,
		.prefetch_bytes = 1 * MIB,
	},
	{
		.base = "ssd",
		.overhead_ns = 5 * NS_PER_US,
		.interface_bytes_per_s = 500 * MIB,
		.flush_ns = 1 * NS_PER_MS,
		.channels = 8,
		.read_ns = 100 * NS_PER_US,
		.write_ns = 40 * NS_PER_US,
	},
};

#define FIELD(name, field, key, unit, help)                                              \
	{ name, key, unit, offsetof(struct model_parameters, field), false, help }
#define FAULT(name, field, key, unit, help)                                              \
	{ name, key, unit, offsetof(struct model_parameters, field), true, help }

const struct model_parameter model_parameter_table[] = {
	FIELD("overhead", overhead_ns, "overhead_ns", UNIT_DURATION,
		"time of the command itself, one command at a time"),
	FIELD("interface", interface_bytes_per_s, "interface_bytes_per_s", UNIT_RATE,
		"rate between host and disk, per second"),
	FIELD("cache", cache_bytes, "cache_bytes", UNIT_BYTES,
		"volatile write cache; 0: write through"),
	FIELD("flush", flush_ns, "flush_ns", UNIT_DURATION,
		"fixed part of a flush, beside writing out the cache"),
	FIELD("channels", channels, "channels", UNIT_COUNT,
		"requests that the medium works on at once"),
	FIELD("read", read_ns, "read_ns", UNIT_DURATION, "access time of a read"),
	FIELD("write", write_ns, "write_ns", UNIT_DURATION, "access time of a write"),
	FIELD("transfer", transfer_bytes_per_s, "transfer_bytes_per_s", UNIT_RATE,
		"rate of the medium, per second"),
	FIELD("rpm", rpm, "rpm", UNIT_COUNT, "turns a minute; 0: nothing turns"),
	FIELD("rotation", rotation, "rotation", UNIT_ROTATION,
		"average: half a turn each time; angle: the platter turns with the clock"),
	FIELD("seek_min", seek_min_ns, "seek_min_ns", UNIT_DURATION,
		"seek to the next track"),
	FIELD("seek_max", seek_max_ns, "seek_max_ns", UNIT_DURATION,
		"seek across the whole scratch disk; between: by the root of the distance"),
	FIELD("prefetch", prefetch_bytes, "prefetch_bytes", UNIT_BYTES,
		"how far a sequential read runs ahead of the requests"),
	FAULT("fail_read", fail_read, "fail_read", UNIT_COUNT,
		"the n-th read and those after it fail with EIO; 0: none"),
	FAULT("fail_write", fail_write, "fail_write", UNIT_COUNT,
		"the n-th write and those after it fail, and store nothing"),
	FAULT("fail_flush", fail_flush, "fail_flush", UNIT_COUNT,
		"the n-th flush and those after it fail"),
	FAULT("fail_times", fail_times, "fail_times", UNIT_COUNT,
		"so many of a kind fail or are dropped, then it works again; 0: all"),
	FAULT("bad_at", bad_at, "bad_at_bytes", UNIT_BYTES,
		"where on the disk bad_bytes begin"),
	FAULT("bad_bytes", bad_bytes, "bad_bytes", UNIT_BYTES,
		"reads and writes that touch so many bytes fail; 0: none"),
	FAULT("drop_write", drop_write, "drop_write", UNIT_COUNT,
		"the n-th write and those after it are acknowledged, and store nothing"),
	FAULT("lie_flush", lie_flush, "lie_flush", UNIT_COUNT,
		"the n-th flush and those after it are acknowledged, and not made"),
	FAULT("slow", slow, "slow", UNIT_COUNT,
		"the n-th request and those after it take slow_by longer"),
	FAULT("slow_by", slow_by_ns, "slow_by_ns", UNIT_DURATION, "how much longer"),
	FAULT("hang", hang, "hang", UNIT_COUNT,
		"from the n-th request on none is answered; 0: all are"),
	FAULT("hang_for", hang_ns, "hang_ns", UNIT_DURATION,
		"for so long; 0: until \"scratch wake\""),
	FAULT("vanish", vanish, "vanish", UNIT_COUNT,
		"from the n-th request on all fail, and what was not flushed is lost; until "
		"\"scratch wake\""),
	{ NULL, NULL, 0, 0, false, NULL },
};

static const char *const rotation_names[] = {
	[ROTATION_AVERAGE] = "average",
	[ROTATION_ANGLE] = "angle",
};

static uint64_t *field(struct model_parameters *p, const struct model_parameter *which)
{
	return (uint64_t *)((char *)p + which->offset);
}

uint64_t model_parameter_value(const struct model_parameters *p,
	const struct model_parameter *which)
{
	return *(const uint64_t *)((const char *)p + which->offset);
}

void model_parameter_format(const struct model_parameters *p,
	const struct model_parameter *which, char out[static 32])
{
	uint64_t value = model_parameter_value(p, which);
	char text[24];

	switch (which->unit) {
	case UNIT_DURATION:
		units_format_duration(value, text);
		snprintf(out, 32, "%s", value ? text : "0");
		return;
	case UNIT_BYTES:
	case UNIT_RATE:
		units_format_bytes(value, text);
		snprintf(out, 32, "%s", text);
		return;
	case UNIT_ROTATION:
		snprintf(out, 32, "%s", rotation_names[value]);
		return;
	case UNIT_COUNT:
		break;
	}
	snprintf(out, 32, "%" PRIu64, value);
}

const struct model_parameters *model_builtin(size_t i)
{
	return i < ARRAY_SIZE(builtins) ? &builtins[i] : NULL;
}

bool model_is_none(const char *text)
{
	return !strcmp(text, "none");
}

static int parse_rotation(const char *text, uint64_t *value, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(rotation_names); i++)
		if (!strcmp(text, rotation_names[i])) {
			*value = i;
			return 0;
		}
	return err_usage(e, "\"%s\" is neither average nor angle", text);
}

static int parse_value(const struct model_parameter *which, const char *text,
	uint64_t *value, struct err *e)
{
	switch (which->unit) {
	case UNIT_DURATION:
		return units_parse_duration(text, value, e);
	case UNIT_BYTES:
	case UNIT_RATE:
		return units_parse_bytes(text, value, e);
	case UNIT_ROTATION:
		return parse_rotation(text, value, e);
	case UNIT_COUNT:
		break;
	}
	return units_parse_count(text, 0, 1000000, value, e);
}

static int unknown(const char *what, const char *word, const char *nearest, struct err *e)
{
	if (nearest)
		return err_usage(e, "unknown %s \"%s\"; did you mean \"%s\"?", what, word,
			nearest);
	return err_usage(e, "unknown %s \"%s\" (\"jbdlab scratch models\" lists all)", what,
		word);
}

static int set_parameter(struct model_parameters *p, bool only_faults, char *word,
	struct err *e)
{
	char *equals = strchr(word, '=');
	struct nearest near = { .word = word };

	if (!equals)
		return err_usage(e, "\"%s\" is not parameter=value", word);
	*equals = '\0';
	for (const struct model_parameter *t = model_parameter_table; t->name; t++) {
		if (only_faults && !t->fault)
			continue;
		if (!strcmp(t->name, word)) {
			int r = parse_value(t, equals + 1, field(p, t), e);

			return r ? err_wrap(e, r, "%s", word) : 0;
		}
		nearest_offer(&near, t->name);
	}
	return unknown(only_faults ? "fault" : "model parameter", word, near.best, e);
}

static int find_builtin(const char *name, struct model_parameters *p, struct err *e)
{
	struct nearest near = { .word = name };

	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (!strcmp(builtins[i].base, name)) {
			*p = builtins[i];
			return 0;
		}
		nearest_offer(&near, builtins[i].base);
	}
	nearest_offer(&near, "none");
	return unknown("model", name, near.best, e);
}

static int check(const struct model_parameters *p, struct err *e)
{
	if (p->channels < 1 || p->channels > 256)
		return err_usage(e, "channels must lie between 1 and 256");
	if (p->seek_max_ns < p->seek_min_ns)
		return err_usage(e, "seek_max is less than seek_min");
	if (p->channels > 1 && (p->rpm || p->seek_max_ns))
		return err_usage(e, "a disk with moving parts has one channel");
	if (p->channels > 1 && p->cache_bytes)
		return err_usage(e, "a disk with a write cache has one channel");
	if (p->rpm && !p->transfer_bytes_per_s)
		return err_usage(e, "a disk that turns needs a transfer rate");
	return 0;
}

/* Half of a fault is a slip: the disk would do nothing wrong. */
static int check_faults(const struct model_parameters *p, struct err *e)
{
	if (p->bad_at && !p->bad_bytes)
		return err_usage(e, "bad_at needs bad_bytes");
	if (!p->slow != !p->slow_by_ns)
		return err_usage(e, "slow and slow_by need each other");
	if (p->hang_ns && !p->hang)
		return err_usage(e, "hang_for needs hang");
	if (p->fail_times && !p->fail_read && !p->fail_write && !p->fail_flush &&
		!p->bad_bytes && !p->drop_write)
		return err_usage(e, "fail_times needs what fails or is dropped");
	return 0;
}

int model_parameters_parse(const char *text, struct model_parameters *p, struct err *e)
{
	_cleanup_free_ char *copy = strdup(text);
	struct model_parameters parsed;
	char *rest = NULL, *word;
	int r;

	if (!copy)
		return err_set(e, ENOMEM, "parse model");
	word = strtok_r(copy, ",", &rest);
	r = find_builtin(word ? word : "", &parsed, e);
	while (!r && (word = strtok_r(NULL, ",", &rest)))
		r = set_parameter(&parsed, false, word, e);
	if (!r)
		r = check(&parsed, e);
	if (!r)
		r = check_faults(&parsed, e);
	if (r)
		return err_wrap(e, r, "model \"%s\"", text);
	*p = parsed;
	return 0;
}

int model_parameters_parse_faults(const char *text, struct model_parameters *p,
	struct err *e)
{
	_cleanup_free_ char *copy = strdup(text);
	struct model_parameters parsed = *p;
	char *rest = NULL, *word;
	int r = 0;

	if (!copy)
		return err_set(e, ENOMEM, "parse faults");
	for (const struct model_parameter *t = model_parameter_table; t->name; t++)
		if (t->fault)
			*field(&parsed, t) = 0;
	word = strcmp(text, "none") ? strtok_r(copy, ",", &rest) : NULL;
	if (!word && strcmp(text, "none"))
		r = err_usage(e, "no fault is named; \"none\" lifts all");
	for (; !r && word; word = strtok_r(NULL, ",", &rest))
		r = set_parameter(&parsed, true, word, e);
	if (!r)
		r = check_faults(&parsed, e);
	if (r)
		return err_wrap(e, r, "faults \"%s\"", text);
	*p = parsed;
	return 0;
}
