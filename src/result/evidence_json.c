/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Evidence to JSON and back; see evidence_json.h.  Writing and reading share one table. */

#include "result/evidence_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/json_reader.h"

static const char *const verdict_words[] = {
	[EVIDENCE_UNKNOWN] = "unknown",
	[EVIDENCE_NOT_APPLICABLE] = "not_applicable",
	[EVIDENCE_OK] = "ok",
	[EVIDENCE_SUSPECT] = "suspect",
	[EVIDENCE_IMPLAUSIBLE] = "implausible",
	[EVIDENCE_FAILED] = "failed",
};

struct key {
	const char *name;
	size_t offset;
};

static const struct key disk_numbers[] = {
	{ "reads", offsetof(struct evidence_disk, reads) },
	{ "read_bytes", offsetof(struct evidence_disk, read_bytes) },
	{ "writes", offsetof(struct evidence_disk, writes) },
	{ "write_bytes", offsetof(struct evidence_disk, write_bytes) },
	{ "flushes", offsetof(struct evidence_disk, flushes) },
	{ "flush_ns", offsetof(struct evidence_disk, flush_ns) },
};

/* Of disks with a model only. */
static const struct key model_numbers[] = {
	{ "model_busy_ns", offsetof(struct evidence_disk, model_busy_ns) },
	{ "model_untrue", offsetof(struct evidence_disk, model_untrue) },
};

static const struct key disk_facts[] = {
	{ "below", offsetof(struct evidence_disk, below) },
	{ "flushes_counted", offsetof(struct evidence_disk, flushes_counted) },
	{ "write_back", offsetof(struct evidence_disk, write_back) },
	{ "rotational", offsetof(struct evidence_disk, rotational) },
	{ "fua", offsetof(struct evidence_disk, fua) },
};

static const struct key journal_numbers[] = {
	{ "transactions", offsetof(struct evidence_journal, transactions) },
	{ "requested", offsetof(struct evidence_journal, requested) },
};

static const struct key journal_means[] = {
	{ "handles_per_transaction", offsetof(struct evidence_journal, handles) },
	{ "blocks_per_transaction", offsetof(struct evidence_journal, blocks) },
	{ "logged_blocks_per_transaction", offsetof(struct evidence_journal, logged_blocks) },
	{ "commit_ns", offsetof(struct evidence_journal, commit_ns) },
};

static const struct key process_numbers[] = {
	{ "read_calls", offsetof(struct evidence_process, read_calls) },
	{ "write_calls", offsetof(struct evidence_process, write_calls) },
	{ "read_bytes", offsetof(struct evidence_process, read_bytes) },
	{ "write_bytes", offsetof(struct evidence_process, write_bytes) },
	{ "device_read_bytes", offsetof(struct evidence_process, device_read_bytes) },
};

static const struct key window_numbers[] = {
	{ "begun_ns", offsetof(struct result_evidence, begun_ns) },
	{ "ended_ns", offsetof(struct result_evidence, ended_ns) },
};

const char *evidence_verdict_word(enum evidence_verdict verdict)
{
	return verdict_words[verdict];
}

static void put_numbers(json_t *json, const void *from, const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		json_object_set_new(json, keys[i].name,
			json_integer((json_int_t)
					*(const uint64_t *)((const char *)from + keys[i].offset)));
}

static void get_numbers(struct json_reader *rd, void *to, const struct key *keys, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = json_read_number(rd, keys[i].name, INT64_MAX);

		memcpy((char *)to + keys[i].offset, &value, sizeof(value));
	}
}

static json_t *disk_to_json(const struct evidence_disk *d)
{
	json_t *json = json_pack("{ss,sb,sb}", "name", d->name, "data",
		!!(d->roles & EVIDENCE_DATA), "journal", !!(d->roles & EVIDENCE_JOURNAL));

	for (size_t i = 0; json && i < ARRAY_SIZE(disk_facts); i++)
		json_object_set_new(json, disk_facts[i].name,
			json_boolean(*(const bool *)((const char *)d + disk_facts[i].offset)));
	json_object_set_new(json, "counts_for_above", json_boolean(d->counts));
	if (json && d->counted_on[0])
		json_object_set_new(json, "flushes_counted_on", json_string(d->counted_on));
	put_numbers(json, d, disk_numbers, ARRAY_SIZE(disk_numbers));
	if (json && d->modelled)
		put_numbers(json, d, model_numbers, ARRAY_SIZE(model_numbers));
	return json;
}

static json_t *journal_to_json(const struct evidence_journal *j)
{
	json_t *json = json_pack("{ss}", "name", j->name);

	put_numbers(json, j, journal_numbers, ARRAY_SIZE(journal_numbers));
	for (size_t i = 0; json && i < ARRAY_SIZE(journal_means); i++) {
		double value;

		memcpy(&value, (const char *)j + journal_means[i].offset, sizeof(value));
		json_object_set_new(json, journal_means[i].name, json_real(value));
	}
	return json;
}

json_t *evidence_to_json(const struct result_evidence *v)
{
	json_t *disks = json_array();
	json_t *json;

	for (size_t i = 0; disks && i < v->disk_count; i++)
		json_array_append_new(disks, disk_to_json(&v->disks[i]));
	json = json_pack("{ss,ss,so}", "verdict", verdict_words[v->verdict], "reason",
		v->reason, "disks", disks);
	put_numbers(json, v, window_numbers, ARRAY_SIZE(window_numbers));
	if (json && v->journal.name[0])
		json_object_set_new(json, "journal", journal_to_json(&v->journal));
	if (json && v->process.known) {
		json_t *process = json_object();

		put_numbers(process, &v->process, process_numbers,
			ARRAY_SIZE(process_numbers));
		json_object_set_new(json, "process", process);
	}
	return json;
}

static void read_name(struct json_reader *rd, const char *key, char *out, size_t room)
{
	_cleanup_free_ char *text = json_read_text(rd, key);

	if (text)
		snprintf(out, room, "%s", text);
}

static bool read_fact(struct json_reader *rd, const char *key)
{
	const json_t *value = json_object_get(rd->object, key);

	if (!rd->status && !json_is_boolean(value))
		json_read_bad(rd, key, "true or false");
	return json_is_true(value);
}

static int read_disk(struct evidence_disk *d, const json_t *json, struct err *e)
{
	const json_t *counts = json_object_get(json, "counts_for_above");
	struct json_reader rd = { json, e, 0 };

	read_name(&rd, "name", d->name, sizeof(d->name));
	d->roles = (read_fact(&rd, "data") ? EVIDENCE_DATA : 0) |
		(read_fact(&rd, "journal") ? EVIDENCE_JOURNAL : 0);
	for (size_t i = 0; i < ARRAY_SIZE(disk_facts); i++)
		*(bool *)((char *)d + disk_facts[i].offset) =
			read_fact(&rd, disk_facts[i].name);
	/* First versions had one disk below, which counted. */
	d->counts = counts ? json_is_true(counts) : d->below;
	if (json_object_get(json, "flushes_counted_on"))
		read_name(&rd, "flushes_counted_on", d->counted_on, sizeof(d->counted_on));
	get_numbers(&rd, d, disk_numbers, ARRAY_SIZE(disk_numbers));
	d->modelled = json_object_get(json, model_numbers[0].name);
	/* First versions had only the first. */
	for (size_t i = 0; i < ARRAY_SIZE(model_numbers); i++)
		if (json_object_get(json, model_numbers[i].name))
			get_numbers(&rd, d, &model_numbers[i], 1);
	return rd.status;
}

static int read_journal(struct evidence_journal *j, const json_t *json, struct err *e)
{
	struct json_reader rd = { json, e, 0 };

	read_name(&rd, "name", j->name, sizeof(j->name));
	get_numbers(&rd, j, journal_numbers, ARRAY_SIZE(journal_numbers));
	for (size_t i = 0; i < ARRAY_SIZE(journal_means); i++) {
		const json_t *value = json_object_get(json, journal_means[i].name);
		double mean = json_number_value(value);

		if (!rd.status && !json_is_number(value))
			json_read_bad(&rd, journal_means[i].name, "a number");
		memcpy((char *)j + journal_means[i].offset, &mean, sizeof(mean));
	}
	return rd.status;
}

int evidence_from_json(struct result_evidence *v, const json_t *json, struct err *e)
{
	struct json_reader rd = { json, e, 0 };
	const json_t *disks = json_read_array(&rd, "disks"), *disk;
	const json_t *journal = json_object_get(json, "journal");
	struct json_reader process = { json_object_get(json, "process"), e, 0 };
	size_t i;
	int r;

	*v = (struct result_evidence){ 0 };
	v->verdict = (enum evidence_verdict)json_read_word(&rd, "verdict", verdict_words,
		ARRAY_SIZE(verdict_words));
	read_name(&rd, "reason", v->reason, sizeof(v->reason));
	if (json_object_get(json, window_numbers[0].name)) /* first versions had none */
		get_numbers(&rd, v, window_numbers, ARRAY_SIZE(window_numbers));
	if (!rd.status && json_array_size(disks) > EVIDENCE_DISKS_MAX)
		json_read_bad(&rd, "disks", "fewer disks");
	r = rd.status;
	json_array_foreach (disks, i, disk) {
		if (r)
			break;
		r = read_disk(&v->disks[v->disk_count++], disk, e);
	}
	if (!r && journal)
		r = read_journal(&v->journal, journal, e);
	if (!r && process.object) {
		v->process.known = true;
		get_numbers(&process, &v->process, process_numbers,
			ARRAY_SIZE(process_numbers));
		r = process.status;
	}
	return r;
}
