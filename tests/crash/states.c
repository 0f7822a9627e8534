/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The models, and why these states are all of them:
 *
 * MODEL_KILL. The kernel keeps what it accepted, so the states are the prefixes of the
 * run. A write of several pages is copied page by page and can be cut between them by
 * SIGKILL, so the prefixes of one write count too.
 *
 * MODEL_P*. What was written to a device before its last flush is durable. Of what was
 * written later, each unit can have any of the contents that it had since then, whatever
 * the others have: caches and disks write back in any order. A flush of one device says
 * nothing about another. It is enough to look right before each flush and at the end:
 * what is pending at any earlier moment is a subset of what is pending there.
 *
 * With m pending units of n_i contents there are prod(n_i) combinations. Up to the cap
 * all of them are built. Above, it is those that find ordering faults: nothing,
 * everything, everything but one unit, one unit alone, each older content of a unit; then
 * random ones up to the cap, from a seeded generator, so that a number always means the
 * same state.
 *
 * Contents that repeat (zeroes over zeroes) are no contents of their own, and a state
 * that was built before is not built again: 128 bits of hash over all 512 byte units that
 * differ from the start decide.
 */
#include "states.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define KILL_CUTS_MAX 8u

const char *const model_names[N_MODELS] = {"K", "P4096", "P512"};

/* The contents that one pending unit can have; version 0 is the durable one. */
struct unit {
	uint32_t device;
	uint32_t bytes;
	uint64_t offset;
	uint32_t n;
	uint8_t **version;
};

struct builder {
	struct states *out;
	const struct trace *trace;
	struct image *img; /* holds what is durable */
	const struct states_opts *opts;
	enum model model;
	uint32_t unit_bytes;
	uint32_t durable[TRACE_DEVICES_MAX];
	uint64_t hash[2]; /* of what is durable, relative to the start */
	uint32_t at;
	struct unit *unit;
	uint32_t n_units;
	uint32_t *index[TRACE_DEVICES_MAX]; /* 1 + number of the unit at a place */
	struct rng rng;
};

struct key {
	uint64_t hash[2];
	uint32_t state;
};

static int compare_keys(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(((const struct key *)a)->hash));
}

/* Adds or takes away (the same for XOR) the content of a range of whole sectors. */
static void toggle(uint64_t hash[2], uint32_t device, uint64_t offset,
	const uint8_t *data, uint64_t bytes)
{
	for (uint64_t i = 0; i < bytes; i += SECTOR_BYTES) {
		uint64_t where = (offset + i) / SECTOR_BYTES * TRACE_DEVICES_MAX + device;

		hash[0] ^= hash_bytes(data + i, SECTOR_BYTES, 2 * where);
		hash[1] ^= hash_bytes(data + i, SECTOR_BYTES, 2 * where + 1);
	}
}

/* Applies the first @bytes of an operation, and keeps the hash in step. */
static void apply(
	struct image *img, const struct traced_op *op, uint64_t bytes, uint64_t hash[2])
{
	struct image *target = &img[op->device];
	uint64_t first = op->offset / SECTOR_BYTES * SECTOR_BYTES;
	uint64_t last =
		(op->offset + bytes + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;

	if (op->kind == TRACE_SYNC || !bytes)
		return;
	if (last > target->bytes)
		die("the trace writes beyond the end of a device");
	if (hash)
		toggle(hash, op->device, first, target->now + first, last - first);
	if (op->kind == TRACE_ZERO)
		image_zero(target, op->offset, bytes);
	else
		image_write(target, op->offset, op->data, bytes);
	if (hash)
		toggle(hash, op->device, first, target->now + first, last - first);
}

static void reset(struct image *img, const struct trace *t)
{
	bool seen[TRACE_DEVICES_MAX] = {false};

	for (uint32_t i = 0; i < t->n; i++) {
		if (!seen[t->op[i].device])
			image_reset(&img[t->op[i].device]);
		seen[t->op[i].device] = true;
	}
}

/* Return: room for a new state, or NULL if its content was there before. */
static struct state *add_state(struct builder *b, const uint64_t hash[2])
{
	struct key *key = xcalloc(1, sizeof(*key)), **found;
	struct states *s = b->out;

	memcpy(key->hash, hash, sizeof(key->hash));
	found = tsearch(key, &s->seen, compare_keys);
	if (!found)
		die("out of memory");
	if (*found != key) {
		s->state[(*found)->state].models |= 1u << b->model;
		free(key);
		return NULL;
	}
	key->state = s->n;
	s->state = xrealloc(s->state, (s->n + 1) * sizeof(*s->state));
	s->state[s->n] = (struct state){.model = b->model, .at = b->at};
	s->state[s->n].models = 1u << b->model;
	return &s->state[s->n++];
}

static void add_prefix(struct builder *b, uint64_t partial_bytes)
{
	struct state *s = add_state(b, b->hash);

	if (!s)
		return;
	s->partial_bytes = partial_bytes;
	for (int d = 0; d < TRACE_DEVICES_MAX; d++)
		s->durable[d] = b->at;
}

/* The prefixes of one write: after each page, or after some of them. */
static void add_cuts(struct builder *b, const struct traced_op *op)
{
	uint64_t first = PAGE_BYTES - op->offset % PAGE_BYTES, pages, step;

	if (op->kind == TRACE_SYNC || op->bytes <= first)
		return;
	pages = (op->bytes - first + PAGE_BYTES - 1) / PAGE_BYTES;
	step = (pages + KILL_CUTS_MAX - 1) / KILL_CUTS_MAX;
	for (uint64_t p = 0; p < pages; p += step) {
		apply(b->img, op, first + p * PAGE_BYTES, b->hash);
		add_prefix(b, first + p * PAGE_BYTES);
	}
}

static void build_kill(struct builder *b)
{
	const struct trace *t = b->trace;

	for (b->at = 0; b->at <= t->n; b->at++) {
		add_prefix(b, 0);
		if (b->at == t->n)
			break;
		add_cuts(b, &t->op[b->at]);
		apply(b->img, &t->op[b->at], t->op[b->at].bytes, b->hash);
	}
}

/* The unit at that place; a new one takes its durable content from the image. */
static struct unit *find_unit(struct builder *b, uint32_t device, uint64_t offset)
{
	uint32_t *slot = &b->index[device][offset / b->unit_bytes];
	struct unit *u;

	if (*slot)
		return &b->unit[*slot - 1];
	b->unit = xrealloc(b->unit, (b->n_units + 1) * sizeof(*b->unit));
	u = &b->unit[b->n_units++];
	*slot = b->n_units;
	*u = (struct unit){.device = device, .bytes = b->unit_bytes, .offset = offset};
	u->version = xcalloc(1, sizeof(*u->version));
	u->version[0] = xcalloc(1, u->bytes);
	memcpy(u->version[0], b->img[device].now + offset, u->bytes);
	u->n = 1;
	return u;
}

static void add_version(struct unit *u, const uint8_t *data)
{
	for (uint32_t i = 0; i < u->n; i++)
		if (!memcmp(u->version[i], data, u->bytes))
			return;
	u->version = xrealloc(u->version, (u->n + 1) * sizeof(*u->version));
	u->version[u->n] = xcalloc(1, u->bytes);
	memcpy(u->version[u->n++], data, u->bytes);
}

/* Collects the contents that one pending operation adds; the image runs ahead with it. */
static void add_pending(struct builder *b, const struct traced_op *op)
{
	uint64_t first = op->offset / b->unit_bytes * b->unit_bytes;
	uint64_t end = op->offset + op->bytes;

	for (uint64_t at = first; at < end; at += b->unit_bytes)
		find_unit(b, op->device, at);
	apply(b->img, op, op->bytes, NULL);
	for (uint64_t at = first; at < end; at += b->unit_bytes)
		add_version(find_unit(b, op->device, at), b->img[op->device].now + at);
}

/* Forgets units whose content never changed, and takes the image back to what is durable.
 */
static void settle_units(struct builder *b)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < b->n_units; i++) {
		struct unit *u = &b->unit[i];

		b->index[u->device][u->offset / b->unit_bytes] = 0;
		if (u->n > 1) {
			image_write(
				&b->img[u->device], u->offset, u->version[0], u->bytes);
			b->unit[kept++] = *u;
			continue;
		}
		free(u->version[0]);
		free(u->version);
	}
	b->n_units = kept;
}

static void find_pending(struct builder *b)
{
	b->n_units = 0;
	for (uint32_t i = 0; i < b->at; i++) {
		const struct traced_op *op = &b->trace->op[i];

		if (op->kind != TRACE_SYNC && i >= b->durable[op->device])
			add_pending(b, op);
	}
	settle_units(b);
}

/* Adds the state in which unit i has its content number choice[i]. */
static void add_choice(struct builder *b, const uint32_t *choice)
{
	uint64_t hash[2] = {b->hash[0], b->hash[1]};
	struct state *s;

	for (uint32_t i = 0; i < b->n_units; i++) {
		const struct unit *u = &b->unit[i];

		if (!choice[i])
			continue;
		toggle(hash, u->device, u->offset, u->version[0], u->bytes);
		toggle(hash, u->device, u->offset, u->version[choice[i]], u->bytes);
	}
	s = add_state(b, hash);
	if (!s)
		return;
	memcpy(s->durable, b->durable, sizeof(s->durable));
	s->n_units = b->n_units;
	s->pick = xcalloc(b->n_units, sizeof(*s->pick));
	for (uint32_t i = 0; i < b->n_units; i++) {
		const struct unit *u = &b->unit[i];

		if (choice[i])
			s->pick[s->n_picks++] = (struct pick){
				u->device, u->bytes, u->offset, u->version[choice[i]]};
	}
}

/* Return: the number of combinations, or cap + 1 if there are more than that. */
static uint32_t count_choices(const struct builder *b)
{
	uint64_t product = 1;

	for (uint32_t i = 0; i < b->n_units && product <= b->opts->cap; i++)
		product *= b->unit[i].n;
	return product > b->opts->cap ? b->opts->cap + 1 : (uint32_t)product;
}

static void add_all_choices(struct builder *b)
{
	uint32_t *choice = xcalloc(b->n_units, sizeof(*choice)), i;

	do {
		add_choice(b, choice);
		for (i = 0; i < b->n_units && ++choice[i] == b->unit[i].n; i++)
			choice[i] = 0;
	} while (i < b->n_units);
	free(choice);
}

static void fill_choice(const struct builder *b, uint32_t *choice, bool newest)
{
	for (uint32_t i = 0; i < b->n_units; i++)
		choice[i] = newest ? b->unit[i].n - 1 : 0;
}

/* Unit i alone has another content than all the rest, which is new or old. */
static void add_odd_one(struct builder *b, uint32_t *choice, uint32_t i, uint32_t version,
	bool rest_newest)
{
	fill_choice(b, choice, rest_newest);
	choice[i] = version;
	add_choice(b, choice);
}

/*
 * Most programs have few pending units, and then every one of them is the odd one once.
 * One that zeroes a whole journal has thousands: then a sample of them must do.
 */
static void add_odd_ones(struct builder *b, uint32_t *choice)
{
	uint32_t limit = 2 * b->opts->cap;
	bool all = b->n_units <= limit;

	for (uint32_t k = 0; k < (all ? b->n_units : limit); k++) {
		uint32_t i = all ? k : (uint32_t)rng_below(&b->rng, b->n_units);

		for (uint32_t v = 0; v < b->unit[i].n; v++) {
			add_odd_one(b, choice, i, v, true);
			add_odd_one(b, choice, i, v, false);
		}
	}
}

static void add_sampled_choices(struct builder *b)
{
	uint32_t *choice = xcalloc(b->n_units, sizeof(*choice));
	uint32_t before = b->out->n;

	b->out->sampled++;
	for (int newest = 0; newest < 2; newest++) {
		fill_choice(b, choice, newest);
		add_choice(b, choice);
	}
	add_odd_ones(b, choice);
	for (uint32_t tries = 0; tries < b->opts->cap; tries++) {
		if (b->out->n - before >= b->opts->cap)
			break;
		for (uint32_t i = 0; i < b->n_units; i++)
			choice[i] = (uint32_t)rng_below(&b->rng, b->unit[i].n);
		add_choice(b, choice);
	}
	free(choice);
}

/* The contents that a state uses must stay; those that none uses are few. */
static void drop_units(struct builder *b)
{
	for (uint32_t i = 0; i < b->n_units; i++)
		free(b->unit[i].version);
	b->n_units = 0;
}

static void build_power_cut(struct builder *b)
{
	const struct trace *t = b->trace;

	for (b->at = 0; b->at <= t->n; b->at++) {
		uint32_t device = b->at < t->n ? t->op[b->at].device : 0;

		if (b->at < t->n && t->op[b->at].kind != TRACE_SYNC)
			continue;
		find_pending(b);
		if (count_choices(b) <= b->opts->cap)
			add_all_choices(b);
		else
			add_sampled_choices(b);
		drop_units(b);
		for (uint32_t i = b->durable[device]; i < b->at && b->at < t->n; i++)
			if (t->op[i].device == device)
				apply(b->img, &t->op[i], t->op[i].bytes, b->hash);
		b->durable[device] = b->at;
	}
}

static void build_model(struct builder *b, enum model model)
{
	b->model = model;
	b->unit_bytes = model == MODEL_P512 ? SECTOR_BYTES : PAGE_BYTES;
	b->rng.state = b->opts->seed * N_MODELS + model;
	memset(b->hash, 0, sizeof(b->hash));
	memset(b->durable, 0, sizeof(b->durable));
	reset(b->img, b->trace);
	if (model == MODEL_KILL)
		build_kill(b);
	else
		build_power_cut(b);
}

void states_build(struct states *s, const struct trace *t, struct image *img,
	const struct states_opts *o)
{
	struct builder b = {.out = s, .trace = t, .img = img, .opts = o};

	*s = (struct states){0};
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t d = t->op[i].device;

		if (!b.index[d])
			b.index[d] =
				xcalloc(img[d].bytes / SECTOR_BYTES, sizeof(*b.index[d]));
	}
	for (int model = 0; model < N_MODELS; model++)
		if (o->wanted[model])
			build_model(&b, model);
	reset(img, t);
	for (int d = 0; d < TRACE_DEVICES_MAX; d++)
		free(b.index[d]);
	free(b.unit);
	tdestroy(s->seen, free);
	s->seen = NULL;
}

void states_free(struct states *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		free(s->state[i].pick);
	free(s->state);
}

void state_make(const struct state *s, const struct trace *t, struct image *img)
{
	reset(img, t);
	for (uint32_t i = 0; i < s->at; i++)
		if (i < s->durable[t->op[i].device])
			apply(img, &t->op[i], t->op[i].bytes, NULL);
	if (s->partial_bytes)
		apply(img, &t->op[s->at], s->partial_bytes, NULL);
	for (uint32_t i = 0; i < s->n_picks; i++)
		image_write(&img[s->pick[i].device], s->pick[i].offset, s->pick[i].data,
			s->pick[i].bytes);
}

void trace_apply(const struct trace *t, struct image *img)
{
	reset(img, t);
	for (uint32_t i = 0; i < t->n; i++)
		apply(img, &t->op[i], t->op[i].bytes, NULL);
}

static void describe_op(
	FILE *f, const struct trace *t, uint32_t at, const char *const *names)
{
	static const char *const verbs[] = {"", "write", "zero", "sync"};
	const struct traced_op *op = &t->op[at];

	if (at == t->n)
		fprintf(f, "the end");
	else if (op->kind == TRACE_SYNC)
		fprintf(f, "operation %u (sync %s)", at + 1, names[op->device]);
	else
		fprintf(f, "operation %u (%s %s, %llu bytes at %llu)", at + 1,
			verbs[op->kind], names[op->device], (unsigned long long)op->bytes,
			(unsigned long long)op->offset);
}

void state_describe(
	FILE *f, const struct state *s, const struct trace *t, const char *const *names)
{
	fprintf(f, "%s before ", model_names[s->model]);
	describe_op(f, t, s->at, names);
	if (s->partial_bytes)
		fprintf(f, ", of which %llu bytes were written",
			(unsigned long long)s->partial_bytes);
	if (s->model == MODEL_KILL)
		return;
	fprintf(f, ", %u of %u pending units new:", s->n_picks, s->n_units);
	for (uint32_t i = 0; i < s->n_picks && i < 12; i++)
		fprintf(f, " %s+%llu", names[s->pick[i].device],
			(unsigned long long)s->pick[i].offset);
	if (s->n_picks > 12)
		fprintf(f, " ...");
}
