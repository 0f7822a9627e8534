/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Steps of a move; see steps.h.
 *
 * Some places are written by several steps, above all the superblock.  The images that a
 * place can hold form a chain: what was there before, then the content after each step
 * that writes it, in order.  step_list_locate() finds for each place the link of the
 * chain that is on disk; a content that is no link at all is somebody else's.
 */

#include "placement/steps.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/fileio.h"

int step_list_add(struct step_list *l, enum step_device device, const char *what,
	struct err *e)
{
	struct step *items = realloc(l->items, (l->count + 1) * sizeof(*items));
	char *copy = strdup(what);

	if (items)
		l->items = items;
	if (!items || !copy) {
		free(copy);
		return err_set(e, ENOMEM, "plan move");
	}
	items[l->count++] = (struct step){ .what = copy, .device = device };
	return 0;
}

static uint8_t *copy_of(const void *bytes, size_t n)
{
	uint8_t *copy = malloc(n ? n : 1);

	if (copy)
		memcpy(copy, bytes, n);
	return copy;
}

int step_list_write(struct step_list *l, uint64_t offset, const void *after,
	const void *before, size_t length, struct err *e)
{
	struct step *s = &l->items[l->count - 1];
	struct step_write *writes =
		realloc(s->writes, (s->write_count + 1) * sizeof(*writes));
	struct step_write w = { .offset = offset, .length = length };

	if (writes)
		s->writes = writes;
	w.after = copy_of(after, length);
	if (before)
		w.before = copy_of(before, length);
	if (!writes || !w.after || (before && !w.before)) {
		free(w.after);
		free(w.before);
		return err_set(e, ENOMEM, "plan move");
	}
	s->writes[s->write_count++] = w;
	return 0;
}

void step_list_mark_loose(struct step_list *l)
{
	struct step *s = &l->items[l->count - 1];

	s->writes[s->write_count - 1].loose = true;
}

void step_list_mark_switch(struct step_list *l)
{
	l->items[l->count - 1].is_switch = true;
}

size_t step_list_switch(const struct step_list *l)
{
	size_t i = 0;

	while (i < l->count && !l->items[i].is_switch)
		i++;
	return i;
}

void step_list_deinit(struct step_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		for (size_t k = 0; k < l->items[i].write_count; k++) {
			free(l->items[i].writes[k].after);
			free(l->items[i].writes[k].before);
		}
		free(l->items[i].writes);
		free(l->items[i].what);
	}
	free(l->items);
	*l = (struct step_list){ 0 };
}

static int put(const struct step_devices *devices, enum step_device device,
	uint64_t offset, const uint8_t *bytes, size_t n, struct err *e)
{
	return fileio_pwrite_full(devices->fd[device], bytes, n, (off_t)offset,
		devices->name[device], e);
}

static int flush(const struct step_devices *devices, enum step_device device,
	struct err *e)
{
	if (fsync(devices->fd[device]))
		return err_set(e, errno, "flush %s", devices->name[device]);
	return 0;
}

static int holds(const struct step_devices *devices, enum step_device device,
	const struct step_write *w, const uint8_t *bytes, bool *yes, struct err *e)
{
	_cleanup_free_ uint8_t *now = malloc(w->length);
	int r;

	if (!now)
		return err_set(e, ENOMEM, "read %s", devices->name[device]);
	r = fileio_pread_full(devices->fd[device], now, w->length, (off_t)w->offset,
		devices->name[device], e);
	if (!r)
		*yes = !memcmp(now, bytes, w->length);
	return r;
}

static bool same_place(const struct step *a, const struct step_write *x,
	const struct step *b, const struct step_write *y)
{
	return a->device == b->device && x->offset == y->offset && x->length == y->length;
}

/* Is w the first write to its place at or after step `from`? */
static bool first_since(const struct step_list *l, size_t from, size_t step, size_t write)
{
	const struct step *s = &l->items[step];

	for (size_t i = from; i <= step; i++)
		for (size_t k = 0; k < l->items[i].write_count; k++) {
			if (i == step && k == write)
				return true;
			if (same_place(&l->items[i], &l->items[i].writes[k], s,
				    &s->writes[write]))
				return false;
		}
	return true;
}

/* Nobody else has changed what the switch and all later steps will write over. */
static int check_before_switch(const struct step_list *l, size_t at,
	const struct step_devices *devices, struct err *e)
{
	for (size_t i = at; i < l->count; i++)
		for (size_t k = 0; k < l->items[i].write_count; k++) {
			const struct step_write *w = &l->items[i].writes[k];
			enum step_device device = l->items[i].device;
			bool same = true;
			int r = 0;

			if (w->before && first_since(l, at, i, k))
				r = holds(devices, device, w, w->before, &same, e);
			if (r)
				return r;
			if (!same)
				return err_say(e, ESTALE,
					"%s was changed by somebody else at byte %llu during the "
					"move; the journal stays where it was",
					devices->name[device],
					(unsigned long long)w->offset);
		}
	return 0;
}

static bool overlap(const struct step_write *a, const struct step_write *b)
{
	return a->offset < b->offset + b->length && b->offset < a->offset + a->length;
}

/* Does a later write of the step go over this one? */
static bool is_last(const struct step *s, size_t write)
{
	for (size_t k = write + 1; k < s->write_count; k++)
		if (overlap(&s->writes[k], &s->writes[write]))
			return false;
	return true;
}

/* A disk may say that it has stored something and not have it.  One that has it in a cache
 * which it does not flush cannot be told from a good one. */
static int read_back(const struct step *s, const struct step_devices *devices,
	struct err *e)
{
	for (size_t k = 0; k < s->write_count; k++)
		fileio_forget_cached(devices->fd[s->device], (off_t)s->writes[k].offset,
			s->writes[k].length);
	for (size_t k = 0; k < s->write_count; k++) {
		bool same = true;
		int r = is_last(s, k) ? holds(devices, s->device, &s->writes[k],
						s->writes[k].after, &same, e)
				      : 0;

		if (r)
			return r;
		if (!same)
			return err_say(e, EIO,
				"%s acknowledged a write at byte %llu and a flush, and does "
				"not hold what was written: do not trust this disk",
				devices->name[s->device],
				(unsigned long long)s->writes[k].offset);
	}
	return 0;
}

static int execute(const struct step *s, const struct step_devices *devices,
	struct step_progress *p, struct err *e)
{
	int r = 0;

	for (size_t k = 0; !r && k < s->write_count; k++) {
		p->wrote = true;
		r = put(devices, s->device, s->writes[k].offset, s->writes[k].after,
			s->writes[k].length, e);
		p->writes++;
	}
	if (!r)
		r = flush(devices, s->device, e);
	p->flushes++;
	if (!r)
		r = read_back(s, devices, e);
	return r ? err_wrap(e, r, "%s", s->what) : 0;
}

int step_list_execute(const struct step_list *l, const struct step_devices *devices,
	struct step_progress *p, struct err *e)
{
	int r;

	for (; p->next < l->count; p->next++) {
		if (devices->absent[l->items[p->next].device])
			continue;
		if (l->items[p->next].is_switch) {
			r = check_before_switch(l, p->next, devices, e);
			if (r)
				return r;
		}
		r = execute(&l->items[p->next], devices, p, e);
		if (r)
			return r;
	}
	return 0;
}

static int undo_write(const struct step *s, const struct step_write *w,
	const struct step_devices *devices, bool only_ours, struct err *e)
{
	bool ours = true;
	int r = 0;

	if (!w->before)
		return 0;
	if (only_ours)
		r = holds(devices, s->device, w, w->after, &ours, e);
	if (r || !ours)
		return r;
	return put(devices, s->device, w->offset, w->before, w->length, e);
}

/* Do readers look at what the steps write to this device before the switch? */
static bool is_referred_to(const struct step_list *l, enum step_device device)
{
	size_t at_switch = step_list_switch(l);

	return device == ON_VOLUME ||
		(at_switch < l->count && l->items[at_switch].device == device);
}

int step_list_undo(const struct step_list *l, const struct step_devices *devices,
	size_t count, bool only_ours, struct err *e)
{
	while (count-- > 0) {
		const struct step *s = &l->items[count];
		bool counts = is_referred_to(l, s->device);
		int r = 0;

		if (devices->absent[s->device])
			continue;
		for (size_t k = s->write_count; !r && k-- > 0;)
			r = undo_write(s, &s->writes[k], devices, only_ours, counts ? e : NULL);
		if (!r)
			r = flush(devices, s->device, counts ? e : NULL);
		if (r && counts)
			return r;
	}
	return 0;
}

int step_list_flush(const struct step_list *l, const struct step_devices *devices,
	struct err *e)
{
	bool done[STEP_DEVICES] = { false };
	int r = 0;

	for (size_t i = 0; !r && i < l->count; i++) {
		if (!done[l->items[i].device] && !devices->absent[l->items[i].device])
			r = flush(devices, l->items[i].device, e);
		done[l->items[i].device] = true;
	}
	return r;
}

/* Is the content of a place known, and is it one that only the switch or a later step
 * writes?  Looked at once for each place, at the first write to it. */
static int locate_place(const struct step_list *l, size_t step, size_t write,
	const struct step_devices *devices, enum step_position *found, struct err *e)
{
	const struct step *s = &l->items[step];
	const struct step_write *w = &s->writes[write];
	size_t at_switch = step_list_switch(l);
	bool same = false;
	int r = holds(devices, s->device, w, w->before, &same, e);

	*found = same ? STEPS_NOT_BEGUN : STEPS_FOREIGN;
	for (size_t i = step; !r && !same && i < l->count; i++)
		for (size_t k = 0; !r && !same && k < l->items[i].write_count; k++) {
			const struct step_write *x = &l->items[i].writes[k];

			if (!same_place(s, w, &l->items[i], x))
				continue;
			r = holds(devices, s->device, x, x->after, &same, e);
			if (!r && same)
				*found = i < at_switch ? STEPS_BEFORE_SWITCH
						       : STEPS_AFTER_SWITCH;
		}
	return r;
}

int step_list_locate(const struct step_list *l, const struct step_devices *devices,
	enum step_position *position, struct err *e)
{
	*position = STEPS_NOT_BEGUN;
	for (size_t i = 0; i < l->count; i++)
		for (size_t k = 0; k < l->items[i].write_count; k++) {
			enum step_position found;
			int r;

			if (!l->items[i].writes[k].before || l->items[i].writes[k].loose ||
				devices->absent[l->items[i].device] || !first_since(l, 0, i, k))
				continue;
			r = locate_place(l, i, k, devices, &found, e);
			if (r)
				return r;
			*position = MAX(*position, found);
		}
	return 0;
}
