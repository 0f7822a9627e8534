/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Model parameters and counters as JSON; see model_json.h. */

#include "scratch/model_json.h"

static void put(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key, json_integer((json_int_t)value));
}

json_t *model_parameters_json(const struct model_parameters *p)
{
	json_t *o = json_object();

	json_object_set_new(o, "base", json_string(p->base));
	for (const struct model_parameter *t = model_parameter_table; t->name; t++)
		if (t->unit == UNIT_ROTATION) {
			char text[32];

			model_parameter_format(p, t, text);
			json_object_set_new(o, t->key, json_string(text));
		} else {
			put(o, t->key, model_parameter_value(p, t));
		}
	return o;
}

static json_t *kind_json(const struct model_kind_stats *k)
{
	json_t *o = json_object();

	put(o, "requests", k->requests);
	put(o, "bytes", k->bytes);
	put(o, "latency_ns", k->latency_ns);
	put(o, "charged_ns", k->charged_ns);
	return o;
}

json_t *model_stats_json(const struct model_stats *s)
{
	json_t *o = json_object();

	for (int i = 0; i < MODEL_KINDS; i++)
		json_object_set_new(o, model_kind_names[i], kind_json(&s->kinds[i]));
	put(o, "busy_ns", s->busy_ns);
	put(o, "cache_hits", s->cache_hits);
	put(o, "seeks", s->seeks);
	put(o, "seek_ns", s->seek_ns);
	put(o, "rotations", s->rotations);
	put(o, "rotation_ns", s->rotation_ns);
	put(o, "transfer_ns", s->transfer_ns);
	put(o, "destaged_extents", s->destaged_extents);
	put(o, "destaged_bytes", s->destaged_bytes);
	put(o, "dirty_bytes", s->dirty_bytes);
	put(o, "dirty_bytes_max", s->dirty_bytes_max);
	return o;
}

json_t *model_faults_json(const struct model_faults *f)
{
	json_t *o = json_object();

	put(o, "dropped_writes", f->stats.dropped_writes);
	put(o, "dropped_bytes", f->stats.dropped_bytes);
	put(o, "unmade_flushes", f->stats.unmade_flushes);
	put(o, "lost_bytes", f->stats.lost_bytes);
	json_object_set_new(o, "gone", json_boolean(f->presence == DISK_GONE));
	return o;
}
