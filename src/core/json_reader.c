/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Reading JSON that may be wrong; see json_reader.h. */

#include "core/json_reader.h"

#include <errno.h>
#include <string.h>

#include "core/printable.h"

void json_read_bad(struct json_reader *rd, const char *key, const char *expected)
{
	rd->status =
		err_say(rd->e, EBADMSG, "\"%s\" is missing or not %s", key, expected);
}

uint64_t json_read_number(struct json_reader *rd, const char *key, uint64_t limit)
{
	const json_t *value = json_object_get(rd->object, key);

	if (rd->status)
		return 0;
	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
		(uint64_t)json_integer_value(value) <= limit)
		return (uint64_t)json_integer_value(value);
	json_read_bad(rd, key, "a whole number in its range");
	return 0;
}

char *json_read_text(struct json_reader *rd, const char *key)
{
	const char *text = json_string_value(json_object_get(rd->object, key));
	char *copy;

	if (rd->status)
		return NULL;
	if (!text) {
		json_read_bad(rd, key, "a text");
		return NULL;
	}
	copy = strdup(text);
	if (!copy)
		rd->status = err_set(rd->e, ENOMEM, "read \"%s\"", key);
	return copy;
}

char *json_read_name(struct json_reader *rd, const char *key)
{
	char *name = json_read_text(rd, key);

	if (!rd->status && !printable_is_name(name))
		json_read_bad(rd, key, "a name: it is empty, or holds control characters");
	return name;
}

unsigned json_read_word(struct json_reader *rd, const char *key,
	const char *const words[], unsigned count)
{
	const char *text = json_string_value(json_object_get(rd->object, key));

	if (rd->status)
		return 0;
	for (unsigned i = 0; text && i < count; i++)
		if (!strcmp(text, words[i]))
			return i;
	json_read_bad(rd, key, "one of the known words");
	return 0;
}

const json_t *json_read_array(struct json_reader *rd, const char *key)
{
	const json_t *array = json_object_get(rd->object, key);

	if (!rd->status && !json_is_array(array))
		json_read_bad(rd, key, "an array");
	return array;
}
