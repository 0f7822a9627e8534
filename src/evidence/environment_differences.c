/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Comparing two snapshots of the environment; see environment.h.  Nothing is known here of
 * what the facts mean: objects and arrays are walked side by side. */

#include "evidence/environment.h"

#include <stdbool.h>
#include <string.h>

#include "core/macros.h"
#include "core/strbuf.h"

static bool compare(json_t *out, const char *path, const json_t *a, const json_t *b);

static bool add(json_t *out, const char *path, const json_t *a, const json_t *b)
{
	return !json_array_append_new(out,
		json_pack("{ss,sO?,sO?}", "fact", path, "before", a, "after", b));
}

static bool compare_below(json_t *out, const char *path, const char *key, const json_t *a,
	const json_t *b)
{
	_cleanup_(strbuf_deinit) struct strbuf below = { 0 };

	strbuf_addf(&below, "%s%s%s", path, *path ? "/" : "", key);
	return !strbuf_failed(&below) && compare(out, strbuf_text(&below), a, b);
}

static bool compare_objects(json_t *out, const char *path, const json_t *a, const json_t *b)
{
	const char *key;
	const json_t *value;

	json_object_foreach ((json_t *)a, key, value) {
		if (!strcmp(key, "time") || !strcmp(key, "readings"))
			continue;
		if (!compare_below(out, path, key, value, json_object_get(b, key)))
			return false;
	}
	json_object_foreach ((json_t *)b, key, value)
		if (!json_object_get(a, key) && strcmp(key, "time") &&
			strcmp(key, "readings") &&
			!compare_below(out, path, key, NULL, value))
			return false;
	return true;
}

/* "volume data", "sdb", or the index. */
static void name_element(struct strbuf *name, const json_t *element, size_t i)
{
	const char *role = json_string_value(json_object_get(element, "role"));
	const char *own = json_string_value(json_object_get(element, "name"));

	if (own)
		strbuf_addf(name, "%s%s%s", role ? role : "", role ? " " : "", own);
	else
		strbuf_addf(name, "%zu", i);
}

static bool compare_arrays(json_t *out, const char *path, const json_t *a, const json_t *b)
{
	size_t count = MAX(json_array_size(a), json_array_size(b));

	for (size_t i = 0; i < count; i++) {
		_cleanup_(strbuf_deinit) struct strbuf name = { 0 };
		const json_t *x = json_array_get(a, i), *y = json_array_get(b, i);

		name_element(&name, x ? x : y, i);
		if (strbuf_failed(&name) ||
			!compare_below(out, path, strbuf_text(&name), x, y))
			return false;
	}
	return true;
}

/* A fact that is not there and one that is null are the same: unknown. */
static bool compare(json_t *out, const char *path, const json_t *a, const json_t *b)
{
	if (json_is_object(a) && json_is_object(b))
		return compare_objects(out, path, a, b);
	if (json_is_array(a) && json_is_array(b))
		return compare_arrays(out, path, a, b);
	if ((!a || json_is_null(a)) && (!b || json_is_null(b)))
		return true;
	return (a && b && json_equal((json_t *)a, (json_t *)b)) || add(out, path, a, b);
}

json_t *environment_differences(const json_t *before, const json_t *after)
{
	json_auto_t *out = json_array();

	return out && compare(out, "", before, after) ? take_ptr(out) : NULL;
}
