/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What readers of formats share; see reader.h. */

#include "import/reader.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *reader_ahead(const struct reader *r, size_t lines)
{
	return r->at + lines < r->lines.count ? r->lines.lines[r->at + lines].text : "";
}

static size_t add_arm(struct reader *r, const char *heading, const char *identifier)
{
	struct import *im = r->im;
	struct import_arm *arms =
		reallocarray(im->arms, im->arm_count + 1, sizeof(*arms));
	struct reader_arm *own;

	if (arms)
		im->arms = arms;
	own = reallocarray(r->arms, im->arm_count + 1, sizeof(*own));
	if (own)
		r->arms = own;
	if (!arms || !own) {
		r->failed = true;
		return 0;
	}
	arms[im->arm_count] = (struct import_arm){0};
	own[im->arm_count] = (struct reader_arm){strdup(heading),
		identifier ? strdup(identifier) : NULL};
	if (!own[im->arm_count].heading)
		r->failed = true;
	return im->arm_count++;
}

static bool same_identifier(const struct reader_arm *arm, const char *identifier)
{
	return !identifier || !arm->identifier || !strcmp(arm->identifier, identifier);
}

/* Identifiers are those of the present heading only. */
static size_t find_arm(
	const struct reader *r, const char *heading, const char *identifier)
{
	for (size_t i = 0; i < r->im->arm_count; i++)
		if (r->arms[i].heading && !strcmp(r->arms[i].heading, heading) &&
			same_identifier(&r->arms[i], identifier))
			return i;
	return r->im->arm_count;
}

size_t reader_arm(struct reader *r, const char *identifier)
{
	const char *heading = "";
	size_t arm;

	if (r->failed)
		return 0;
	if (r->heading)
		heading = r->heading;
	else if (r->im->arm_count)
		heading = r->arms[r->arm].heading;
	arm = find_arm(r, heading, identifier);
	if (arm == r->im->arm_count)
		arm = add_arm(r, heading, identifier);
	else if (identifier && !r->arms[arm].identifier)
		r->arms[arm].identifier = strdup(identifier);
	r->heading = NULL;
	return r->arm = arm;
}

size_t reader_named_arm(struct reader *r, const char *name)
{
	r->heading = name;
	return reader_arm(r, NULL);
}

static struct result_run *add_run(
	struct reader *r, struct import_arm *arm, const char *type, uint32_t block)
{
	struct result_run *runs =
		reallocarray(arm->runs, arm->run_count + 1, sizeof(*runs));

	if (!runs) {
		r->failed = true;
		return NULL;
	}
	arm->runs = runs;
	runs += arm->run_count++;
	*runs = (struct result_run){
		.workload = strdup(type), .type = strdup(type), .block = block};
	if (!runs->workload || !runs->type)
		r->failed = true;
	return runs;
}

static bool has_phase(const struct result_run *run, const char *name)
{
	for (size_t i = 0; i < run->phase_count; i++)
		if (!strcmp(run->phases[i].name, name))
			return true;
	return false;
}

static struct result_run *run_for(
	struct reader *r, struct import_arm *arm, const char *type, const char *name)
{
	uint32_t block = 0;

	for (size_t i = 0; i < arm->run_count; i++) {
		if (strcmp(arm->runs[i].type, type))
			continue;
		if (!has_phase(&arm->runs[i], name))
			return &arm->runs[i];
		block++;
	}
	return add_run(r, arm, type, block);
}

struct result_phase *reader_phase(struct reader *r, size_t arm, const char *type,
	const char *name, const char *title)
{
	struct result_phase *phase = NULL;
	struct result_run *run;

	if (r->im->rows >= READER_ROWS_MAX) {
		r->full = true;
		return NULL;
	}
	if (r->failed)
		return NULL;
	run = run_for(r, &r->im->arms[arm], type, name);
	if (r->failed || result_run_add_phase(run, name, title, &phase, NULL)) {
		r->failed = true;
		return NULL;
	}
	phase->counters.unknown = RESULT_ALL_COUNTERS;
	r->im->rows++;
	r->im->formats |= 1u << r->format;
	return phase;
}

void reader_counter(
	struct result_phase *phase, enum result_counter counter, uint64_t value)
{
	struct result_counters *c;

	if (!phase)
		return;
	c = &phase->counters;
	c->unknown &= ~(uint32_t)counter;
	switch (counter) {
	case RESULT_REQUESTED_BYTES:
		c->requested_bytes = value;
		break;
	case RESULT_BLOCK_BYTES:
		c->block_bytes = value;
		break;
	case RESULT_BYTES:
		c->bytes = value;
		break;
	case RESULT_OPERATIONS:
		c->operations = value;
		break;
	case RESULT_WALL:
		c->wall_ns = value;
		break;
	case RESULT_USER:
		c->user_ns = value;
		break;
	case RESULT_SYSTEM:
		c->system_ns = value;
		break;
	case RESULT_SYNCS:
		c->syncs = value;
		break;
	case RESULT_THREADS:
		c->threads = (uint32_t)MIN(value, (uint64_t)UINT32_MAX);
		break;
	case RESULT_ALL_COUNTERS:
		break;
	}
}

void reader_metric(struct reader *r, struct result_phase *phase, const char *name,
	enum result_unit unit, enum result_direction direction, double value)
{
	if (phase && value == value &&
		result_phase_add_metric(phase, name, unit, direction, value, NULL))
		r->failed = true;
}

void reader_rate(struct reader *r, struct result_phase *phase, double bytes_per_second)
{
	reader_metric(r, phase, "rate", UNIT_BYTES_PER_SECOND, HIGHER_IS_BETTER,
		bytes_per_second);
}

void reader_latency(
	struct reader *r, struct result_phase *phase, const char *name, double ns)
{
	reader_metric(r, phase, name, UNIT_NANOSECONDS, LOWER_IS_BETTER, ns);
}

struct reader_name reader_threads_name(const char *kind, unsigned threads)
{
	struct reader_name name;

	snprintf(name.text, sizeof(name.text), "%.64s/t%u", kind, threads);
	return name;
}

static void add_note(struct reader *r, enum import_note_kind kind, unsigned line,
	const char *fmt, va_list ap)
{
	struct import *im = r->im;
	struct import_note *notes =
		reallocarray(im->notes, im->note_count + 1, sizeof(*notes));
	char *text = NULL;

	if (notes)
		im->notes = notes;
	if (!notes || vasprintf(&text, fmt, ap) < 0) {
		r->failed = true;
		return;
	}
	notes[im->note_count++] = (struct import_note){kind, line, text};
	im->malformed += kind == IMPORT_MALFORMED;
}

void reader_warn(struct reader *r, unsigned line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(r, IMPORT_WARNING, line, fmt, ap);
	va_end(ap);
}

void reader_malformed(struct reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	add_note(r, IMPORT_MALFORMED, reader_number(r), fmt, ap);
	va_end(ap);
}

bool reader_is_command(const char *line)
{
	return (line[0] == '$' || line[0] == '#' || line[0] == '%') && line[1] == ' ' &&
	       (islower((unsigned char)line[2]) || line[2] == '.' || line[2] == '/');
}

/* Where the word begins at which a program of that name is run, or NULL. */
static const char *program_in(const char *line, const char *program)
{
	size_t n = strlen(program);

	for (const char *p = line; (p = strstr(p, program)) != NULL; p += n) {
		bool begins = p == line || p[-1] == ' ' || p[-1] == '/';

		if (begins && (p[n] == ' ' || !p[n]))
			return p;
	}
	return NULL;
}

const char *reader_command(const struct reader *r, const char *program)
{
	for (size_t i = MIN(r->at + 1, r->lines.count); i-- > 0;) {
		const char *line = r->lines.lines[i].text, *at;

		if (!reader_is_command(line))
			continue;
		at = program_in(line, program);
		if (at)
			return at;
	}
	return NULL;
}

const char *reader_option(const char *command, const char *option)
{
	size_t n = strlen(option);
	bool is_long = !strncmp(option, "--", 2);

	for (const char *p = command; p && (p = strstr(p, option)) != NULL; p += n) {
		if (p == command || p[-1] != ' ')
			continue;
		if (p[n] == ' ' || (is_long && p[n] == '='))
			return p + n + 1;
		if (!p[n] || !is_long)
			return p + n;
	}
	return NULL;
}

bool reader_has(const char *text, const char *word)
{
	return strcasestr(text, word) != NULL;
}
