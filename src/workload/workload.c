/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Workloads: the types that types.h lists, and one type with its keys set; see workload.h.
 * Keys and defaults are words, so that defaults go through the same parser as what people
 * type.
 */

#include "workload/workload.h"

#include <errno.h>
#include <string.h>

#include "core/clock.h"
#include "core/nearest.h"
#include "workload/types.h"

#define ADDRESS(NAME) &workload_##NAME,

static const struct workload_type *const types[] = {WORKLOAD_TYPES(ADDRESS)};

#define WORKLOAD_FAMILY ".NAME"

struct workload {
	const struct workload_type *type;
	char *name;
	void *options;
	uint64_t given; /* bit i: keys[i] has a value */
};

size_t workload_type_count(void)
{
	return ARRAY_SIZE(types);
}

const struct workload_type *workload_type_at(size_t i)
{
	return types[i];
}

const struct workload_type *workload_type_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(types[i]->name, name))
			return types[i];
	return NULL;
}

bool workload_key_is(const struct workload_key *key, const char *typed)
{
	size_t n = strlen(key->name), family = strlen(WORKLOAD_FAMILY);

	if (n <= family || strcmp(key->name + n - family, WORKLOAD_FAMILY))
		return !strcmp(key->name, typed);
	return !strncmp(key->name, typed, n - family + 1) && typed[n - family + 1];
}

static int set_defaults(struct workload *w, struct err *e)
{
	for (size_t i = 0; i < w->type->key_count; i++) {
		const struct workload_key *key = &w->type->keys[i];
		int r = 0;

		if (key->default_value && !*key->default_value)
			w->given |= UINT64_C(1) << i;
		else if (key->default_value)
			r = workload_set(w, key->name, key->default_value, e);
		if (r)
			return r;
	}
	return 0;
}

int workload_new(struct workload **out, const struct workload_type *type,
	const char *name, struct err *e)
{
	_cleanup_(workload_freep) struct workload *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return err_set(e, ENOMEM, "workload %s", name);
	w->type = type;
	w->name = strdup(name);
	w->options = calloc(1, type->options_bytes);
	if (!w->name || !w->options)
		return err_set(e, ENOMEM, "workload %s", name);
	r = set_defaults(w, e);
	if (r)
		return r;
	*out = take_ptr(w);
	return 0;
}

struct workload *workload_free(struct workload *w)
{
	if (!w)
		return NULL;
	if (w->options && w->type->deinit)
		w->type->deinit(w->options);
	free(w->options);
	free(w->name);
	free(w);
	return NULL;
}

const char *workload_name(const struct workload *w)
{
	return w->name;
}

const struct workload_type *workload_type_of(const struct workload *w)
{
	return w->type;
}

static int unknown_key(const struct workload *w, const char *name, struct err *e)
{
	struct nearest n = {.word = name};

	for (size_t i = 0; i < w->type->key_count; i++)
		nearest_offer(&n, w->type->keys[i].name);
	if (n.best)
		err_usage(e, "%s has no key \"%s\"; did you mean \"%s\"?", w->type->name,
			name, n.best);
	else
		err_usage(e, "%s has no key \"%s\"", w->type->name, name);
	if (e)
		e->code = ENOENT;
	return -ENOENT;
}

int workload_set(struct workload *w, const char *key, const char *value, struct err *e)
{
	for (size_t i = 0; i < w->type->key_count; i++) {
		int r;

		if (!workload_key_is(&w->type->keys[i], key))
			continue;
		r = w->type->set(w->options, key, value, e);
		if (r)
			return err_wrap(e, r, "%s", key);
		w->given |= UINT64_C(1) << i;
		return 0;
	}
	return unknown_key(w, key, e);
}

int workload_check(const struct workload *w, struct err *e)
{
	int r;

	for (size_t i = 0; i < w->type->key_count; i++)
		if (!(w->given >> i & 1))
			return err_usage(e,
				"workload %s: %s needs a value for \"%s\" (%s)", w->name,
				w->type->name, w->type->keys[i].name,
				w->type->keys[i].value);
	r = w->type->check ? w->type->check(w->options, e) : 0;
	return r ? err_wrap(e, r, "workload %s", w->name) : 0;
}

int workload_ready(const struct workload *w, struct err *e)
{
	int r = w->type->ready ? w->type->ready(w->options, e) : 0;

	return r ? err_wrap(e, r, "workload %s", w->name) : 0;
}

uint64_t workload_bytes(const struct workload *w)
{
	return w->type->bytes(w->options);
}

uint64_t workload_duration_ns(const struct workload *w)
{
	return w->type->duration_ns ? w->type->duration_ns(w->options) : 0;
}

uint64_t workload_quiet_ns(const struct workload *w)
{
	return w->type->quiet_ns ? w->type->quiet_ns(w->options) : workload_duration_ns(w);
}

uint64_t workload_space(const struct workload *w)
{
	return w->type->space(w->options);
}

int workload_run(const struct workload *w, const struct workload_env *env,
	struct result_run *run, struct err *e)
{
	int r = workload_check(w, e);

	if (r)
		return r;
	*run = (struct result_run){.started_wall_ns = clock_wall_ns()};
	run->workload = strdup(w->name);
	run->type = strdup(w->type->name);
	run->arm = strdup("");
	if (run->workload && run->type && run->arm)
		r = w->type->run(w->options, env, run, e);
	else
		r = err_set(e, ENOMEM, "workload %s", w->name);
	if (r)
		result_run_deinit(run);
	return r ? err_wrap(e, r, "workload %s", w->name) : 0;
}
