/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Timelines, and JSON of them and back; see timeline.h. */

#include "result/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/json_reader.h"

#define TIMELINE_SCHEMA "jbdlab-trace/1"

static const char *const what_words[] = {
	[TIMELINE_DATA] = "data",
	[TIMELINE_METADATA] = "metadata",
	[TIMELINE_JOURNAL] = "journal",
	[TIMELINE_COMMIT] = "commit_record",
	[TIMELINE_JOURNAL_SUPERBLOCK] = "journal_superblock",
	[TIMELINE_FLUSH] = "flush",
	[TIMELINE_READ] = "read",
	[TIMELINE_OTHER] = "other",
};

static const char *const what_texts[] = {
	[TIMELINE_DATA] = "write data",
	[TIMELINE_METADATA] = "write metadata in place",
	[TIMELINE_JOURNAL] = "write journal blocks",
	[TIMELINE_COMMIT] = "write commit record",
	[TIMELINE_JOURNAL_SUPERBLOCK] = "write journal superblock",
	[TIMELINE_READ] = "read",
	[TIMELINE_OTHER] = "other requests",
};

struct key {
	const char *name;
	size_t offset;
};

static const struct key step_keys[] = {
	{ "start_ns", offsetof(struct timeline_step, start_ns) },
	{ "duration_ns", offsetof(struct timeline_step, duration_ns) },
	{ "requests", offsetof(struct timeline_step, requests) },
	{ "bytes", offsetof(struct timeline_step, bytes) },
};

static const struct key transaction_keys[] = {
	{ "tid", offsetof(struct timeline_transaction, tid) },
	{ "wait_ns", offsetof(struct timeline_transaction, wait_ns) },
	{ "running_ns", offsetof(struct timeline_transaction, running_ns) },
	{ "locked_ns", offsetof(struct timeline_transaction, locked_ns) },
	{ "flushing_ns", offsetof(struct timeline_transaction, flushing_ns) },
	{ "logging_ns", offsetof(struct timeline_transaction, logging_ns) },
	{ "handles", offsetof(struct timeline_transaction, handles) },
	{ "blocks", offsetof(struct timeline_transaction, blocks) },
	{ "logged_blocks", offsetof(struct timeline_transaction, logged_blocks) },
};

static const struct key timeline_keys[] = {
	{ "events", offsetof(struct timeline, events) },
	{ "lost_events", offsetof(struct timeline, lost_events) },
	{ "transaction_count", offsetof(struct timeline, transaction_count) },
	{ "fsync_count", offsetof(struct timeline, fsync_count) },
	{ "fsync_median_ns", offsetof(struct timeline, median_ns) },
	{ "fsync_duration_ns", offsetof(struct timeline, duration_ns) },
	{ "fsync_idle_ns", offsetof(struct timeline, idle_ns) },
	{ "fsync_steps_left_out", offsetof(struct timeline, steps_left_out) },
};

struct timeline *timeline_free(struct timeline *t)
{
	if (!t)
		return NULL;
	free(t->workload);
	free(t->phase);
	free(t->arm);
	free(t->transactions);
	free(t);
	return NULL;
}

int timeline_label(struct timeline *t, const char *workload, const char *phase,
	const char *arm, uint32_t block, struct err *e)
{
	free(t->workload);
	free(t->phase);
	free(t->arm);
	t->workload = strdup(workload);
	t->phase = strdup(phase);
	t->arm = strdup(arm);
	t->block = block;
	return t->workload && t->phase && t->arm ? 0 : err_set(e, ENOMEM, "record");
}

const char *timeline_what_word(enum timeline_what what)
{
	return what_words[what];
}

const char *timeline_step_text(const struct timeline_step *step)
{
	if (step->what != TIMELINE_FLUSH)
		return what_texts[step->what];
	switch (step->roles) {
	case EVIDENCE_DATA:
		return "flush data disk";
	case EVIDENCE_JOURNAL:
		return "flush journal disk";
	default:
		return "flush disk";
	}
}

static json_t *numbers_to_json(const void *from, const struct key *keys, size_t n)
{
	json_t *json = json_object();

	for (size_t i = 0; json && i < n; i++)
		json_object_set_new(json, keys[i].name,
			json_integer((json_int_t)
					*(const uint64_t *)((const char *)from + keys[i].offset)));
	return json;
}

static void read_numbers(struct json_reader *rd, void *to, const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = json_read_number(rd, keys[i].name, INT64_MAX);

		memcpy((char *)to + keys[i].offset, &value, sizeof(value));
	}
}

static json_t *step_to_json(const struct timeline_step *s)
{
	json_t *json = numbers_to_json(s, step_keys, ARRAY_SIZE(step_keys));

	json_object_set_new(json, "what", json_string(what_words[s->what]));
	json_object_set_new(json, "disk", json_string(s->disk));
	json_object_set_new(json, "data", json_boolean(s->roles & EVIDENCE_DATA));
	json_object_set_new(json, "journal", json_boolean(s->roles & EVIDENCE_JOURNAL));
	return json;
}

json_t *timeline_to_json(const struct timeline *t)
{
	json_t *json = numbers_to_json(t, timeline_keys, ARRAY_SIZE(timeline_keys));
	json_t *steps = json_array(), *transactions = json_array();

	for (size_t i = 0; i < t->step_count; i++)
		json_array_append_new(steps, step_to_json(&t->steps[i]));
	for (size_t i = 0; i < t->kept_count; i++)
		json_array_append_new(transactions,
			numbers_to_json(&t->transactions[i], transaction_keys,
				ARRAY_SIZE(transaction_keys)));
	json_object_set_new(json, "schema", json_string(TIMELINE_SCHEMA));
	json_object_set_new(json, "workload", json_string(t->workload ? t->workload : ""));
	json_object_set_new(json, "phase", json_string(t->phase ? t->phase : ""));
	json_object_set_new(json, "arm", json_string(t->arm ? t->arm : ""));
	json_object_set_new(json, "block", json_integer(t->block));
	json_object_set_new(json, "fsync_data_only", json_boolean(t->data_only));
	json_object_set_new(json, "fsync_steps", steps);
	json_object_set_new(json, "transactions", transactions);
	return json;
}

static unsigned read_role(struct json_reader *rd, const char *key, unsigned role)
{
	const json_t *value = json_object_get(rd->object, key);

	if (!rd->status && !json_is_boolean(value))
		json_read_bad(rd, key, "true or false");
	return json_is_true(value) ? role : 0;
}

static int read_step(struct timeline_step *s, const json_t *json, struct err *e)
{
	struct json_reader rd = { json, e, 0 };
	_cleanup_free_ char *disk = json_read_text(&rd, "disk");

	snprintf(s->disk, sizeof(s->disk), "%s", disk ? disk : "");
	s->what = (enum timeline_what)json_read_word(&rd, "what", what_words,
		ARRAY_SIZE(what_words));
	s->roles = read_role(&rd, "data", EVIDENCE_DATA) |
		read_role(&rd, "journal", EVIDENCE_JOURNAL);
	read_numbers(&rd, s, step_keys, ARRAY_SIZE(step_keys));
	return rd.status;
}

static int read_steps(struct timeline *t, struct json_reader *rd)
{
	const json_t *steps = json_read_array(rd, "fsync_steps"), *step;
	size_t i;

	if (!rd->status && json_array_size(steps) > TIMELINE_STEPS_MAX)
		json_read_bad(rd, "fsync_steps", "fewer steps");
	json_array_foreach (steps, i, step)
		if (!rd->status)
			rd->status = read_step(&t->steps[t->step_count++], step, rd->e);
	return rd->status;
}

static int read_transactions(struct timeline *t, struct json_reader *rd)
{
	const json_t *list = json_read_array(rd, "transactions"), *one;
	size_t i;

	if (rd->status)
		return rd->status;
	t->transactions = calloc(json_array_size(list) + 1, sizeof(*t->transactions));
	if (!t->transactions)
		return err_set(rd->e, ENOMEM, "read \"transactions\"");
	json_array_foreach (list, i, one) {
		struct json_reader at = { one, rd->e, 0 };

		read_numbers(&at, &t->transactions[t->kept_count++], transaction_keys,
			ARRAY_SIZE(transaction_keys));
		if (at.status)
			return at.status;
	}
	return 0;
}

int timeline_from_json(struct timeline **out, const json_t *json, struct err *e)
{
	static const char *const schema[] = { TIMELINE_SCHEMA };
	_cleanup_(timeline_freep) struct timeline *t = calloc(1, sizeof(*t));
	struct json_reader rd = { json, e, 0 };
	int r;

	if (!t)
		return err_set(e, ENOMEM, "read a trace");
	json_read_word(&rd, "schema", schema, 1);
	t->workload = json_read_text(&rd, "workload");
	t->phase = json_read_text(&rd, "phase");
	t->arm = json_read_text(&rd, "arm");
	t->block = (uint32_t)json_read_number(&rd, "block", UINT32_MAX);
	t->data_only = read_role(&rd, "fsync_data_only", 1);
	read_numbers(&rd, t, timeline_keys, ARRAY_SIZE(timeline_keys));
	r = rd.status ? rd.status : read_steps(t, &rd);
	if (!r)
		r = read_transactions(t, &rd);
	if (!r)
		*out = take_ptr(t);
	return r;
}
