/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a section or a definition of a command says, and which of both holds; see program.h. */

#include "workload/program.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/units.h"

#define VARIABLE "env."
#define METRIC "metric."

static const struct {
	const char *key;
	enum program_field field;
} field_keys[] = {
	{"exec", PROGRAM_EXEC},
	{"setup", PROGRAM_SETUP},
	{"cleanup", PROGRAM_CLEANUP},
	{"timeout", PROGRAM_TIMEOUT},
	{"space", PROGRAM_SPACE},
	{"duration", PROGRAM_DURATION},
	{"needs", PROGRAM_NEEDS},
	{"user", PROGRAM_USER},
};

static int set_field(struct program_settings *s, enum program_field field,
	const char *value, struct err *e)
{
	uint64_t ns = 0;
	char *copy;
	int r = 0;

	if (field == PROGRAM_TIMEOUT)
		r = units_parse_duration(value, &ns, e);
	if (!r && field == PROGRAM_TIMEOUT && !ns)
		r = err_usage(e, "no time at all is not enough");
	if (r)
		return r;
	copy = strdup(value);
	if (!copy)
		return err_set(e, ENOMEM, "command");
	free(s->fields[field]);
	s->fields[field] = copy;
	return 0;
}

static int set_variable(
	struct program_settings *s, const char *name, const char *value, struct err *e)
{
	struct program_variable *more;

	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && *p != '_')
			return err_usage(e, "\"%s\" is no name of a variable", name);
	if (!*name || isdigit((unsigned char)*name) || !strncmp(name, "JBDLAB_", 7))
		return err_usage(e, "\"%s\" is no name of a variable", name);
	for (size_t i = 0; i < s->variable_count; i++)
		if (!strcmp(s->variables[i].name, name)) {
			free(s->variables[i].value);
			s->variables[i].value = strdup(value);
			return s->variables[i].value ? 0 : err_set(e, ENOMEM, "command");
		}
	more = reallocarray(s->variables, s->variable_count + 1, sizeof(*more));
	if (!more)
		return err_set(e, ENOMEM, "command");
	s->variables = more;
	more += s->variable_count++;
	*more = (struct program_variable){strdup(name), strdup(value)};
	return more->name && more->value ? 0 : err_set(e, ENOMEM, "command");
}

static struct program_metric *find_metric(
	const struct program_settings *s, const char *phase, const char *name)
{
	for (size_t i = 0; i < s->metric_count; i++)
		if (!strcmp(s->metrics[i].phase, phase) &&
			!strcmp(s->metrics[i].name, name))
			return &s->metrics[i];
	return NULL;
}

static int set_metric(
	struct program_settings *s, const char *path, const char *value, struct err *e)
{
	struct program_metric m, *old, *more;
	int r = program_metric_parse(&m, path, value, e);

	if (r)
		return r;
	old = find_metric(s, m.phase, m.name);
	if (old) {
		program_metric_deinit(old);
		*old = m;
		return 0;
	}
	more = reallocarray(s->metrics, s->metric_count + 1, sizeof(*more));
	if (!more) {
		program_metric_deinit(&m);
		return err_set(e, ENOMEM, "command");
	}
	s->metrics = more;
	more[s->metric_count++] = m;
	return 0;
}

int program_settings_set(struct program_settings *s, const char *key, const char *value,
	struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_keys); i++)
		if (!strcmp(key, field_keys[i].key))
			return set_field(s, field_keys[i].field, value, e);
	if (!strncmp(key, VARIABLE, strlen(VARIABLE)))
		return set_variable(s, key + strlen(VARIABLE), value, e);
	if (!strncmp(key, METRIC, strlen(METRIC)))
		return set_metric(s, key + strlen(METRIC), value, e);
	return -ENOENT;
}

void program_settings_deinit(struct program_settings *s)
{
	for (size_t i = 0; i < PROGRAM_FIELDS; i++)
		free(s->fields[i]);
	for (size_t i = 0; i < s->variable_count; i++) {
		free(s->variables[i].name);
		free(s->variables[i].value);
	}
	for (size_t i = 0; i < s->metric_count; i++)
		program_metric_deinit(&s->metrics[i]);
	free(s->variables);
	free(s->metrics);
	*s = (struct program_settings){0};
}

void program_deinit(void *command)
{
	struct program *c = command;

	program_settings_deinit(&c->own);
	program_settings_deinit(&c->shipped);
	free(take_ptr(c->name));
	free(take_ptr(c->directory));
}

const char *program_field(const struct program *c, enum program_field field)
{
	return c->own.fields[field] ? c->own.fields[field] : c->shipped.fields[field];
}

const char *program_settings_variable(const struct program_settings *s, const char *name)
{
	for (size_t i = 0; i < s->variable_count; i++)
		if (!strcmp(s->variables[i].name, name))
			return s->variables[i].value;
	return NULL;
}

const char *program_variable(const struct program *c, const char *name)
{
	const char *value = program_settings_variable(&c->own, name);

	return value ? value : program_settings_variable(&c->shipped, name);
}

int program_each_metric(const struct program *c,
	int (*visit)(void *data, const struct program_metric *m, struct err *e),
	void *data, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < c->shipped.metric_count; i++) {
		const struct program_metric *m = &c->shipped.metrics[i];
		const struct program_metric *own =
			find_metric(&c->own, m->phase, m->name);

		r = visit(data, own ? own : m, e);
	}
	for (size_t i = 0; !r && i < c->own.metric_count; i++) {
		const struct program_metric *m = &c->own.metrics[i];

		if (!find_metric(&c->shipped, m->phase, m->name))
			r = visit(data, m, e);
	}
	return r;
}
