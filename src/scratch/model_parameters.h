/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What a modelled disk is like: the built-in models and "hdd-7200,seek_max=8ms".  Every
 * parameter is one entry of a table, from which it is parsed, printed and documented.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"

enum model_rotation {
	ROTATION_AVERAGE, /* each positioning waits half a turn: repeatable */
	ROTATION_ANGLE,	  /* the platter turns with the clock, the wait is what is left */
};

/* All are u64 so that one table describes them; 0 switches a property off. */
struct model_parameters {
	const char *base; /* name of the built-in model, static */
	uint64_t overhead_ns; /* of the command, for each request; one at a time */
	uint64_t interface_bytes_per_s; /* between host and disk; 0: takes no time */
	uint64_t cache_bytes; /* volatile write cache; 0: write through */
	uint64_t flush_ns;    /* fixed part of a flush after something was written */
	uint64_t channels;    /* requests that the medium works on at once */
	uint64_t read_ns, write_ns; /* access time of the medium without moving parts */
	uint64_t transfer_bytes_per_s; /* of the medium; 0: takes no time */
	uint64_t rpm;		       /* 0: nothing turns */
	uint64_t rotation;	       /* enum model_rotation */
	uint64_t seek_min_ns;	       /* to the next track */
	uint64_t seek_max_ns;	       /* from one end of the disk to the other */
	uint64_t prefetch_bytes;       /* how far a sequential read runs ahead */

	/* Faults; see model_faults.h for what they do.  n: the first of the requests that
	 * have it, counted since the faults were set; 0: none has. */
	uint64_t fail_read, fail_write, fail_flush; /* n */
	uint64_t fail_times;			    /* how many of a kind; 0: all */
	uint64_t bad_at, bad_bytes;
	uint64_t drop_write, lie_flush; /* n */
	uint64_t slow, slow_by_ns;	/* n */
	uint64_t hang, hang_ns;		/* n; 0 ns: until MODEL_CONTROL_WAKE */
	uint64_t vanish;		/* n */
};

enum parameter_unit { UNIT_DURATION, UNIT_BYTES, UNIT_RATE, UNIT_COUNT, UNIT_ROTATION };

struct model_parameter {
	const char *name; /* as in "name=value" */
	const char *key;  /* in JSON, with the base unit */
	enum parameter_unit unit;
	size_t offset; /* in struct model_parameters */
	bool fault;    /* what the disk does wrong, not how quick it is */
	const char *help;
};

extern const struct model_parameter model_parameter_table[]; /* ends with name NULL */

uint64_t model_parameter_value(const struct model_parameters *p,
	const struct model_parameter *which);

/* The value as model_parameters_parse() would take it: "4.2ms", "150M", "angle". */
void model_parameter_format(const struct model_parameters *p,
	const struct model_parameter *which, char out[static 32]);

/* The built-in models, without "none"; NULL behind the last one. */
const struct model_parameters *model_builtin(size_t i);

/* "none": no model at all, the plain file. */
bool model_is_none(const char *text);

/* "NAME" or "NAME,parameter=value,...".  -EINVAL names what is unknown and what is near. */
int model_parameters_parse(const char *text, struct model_parameters *p, struct err *e);

/* "fault=value,..." or "none": only faults, in place of all that *p has.  -EINVAL as above. */
int model_parameters_parse_faults(const char *text, struct model_parameters *p,
	struct err *e);
