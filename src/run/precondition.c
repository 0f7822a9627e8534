/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Preconditioning; see precondition.h.  Data is random, past the page cache, and written
 * through a second descriptor of what the claim holds, whatever its name leads to by then.
 * What it was is in the environment of the bundle; that it was done, in the state log: a
 * process that goes on with the run must not do it again, there is something on the
 * devices then.
 */

#include "run/precondition.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "device/signature.h"
#include "run/devices.h"
#include "run/history.h"
#include "stats/steady.h"
#include "workload/random.h"

enum { PASSES = 2, CHUNK_BYTES = 1 << 20, BLOCK_BYTES = 4096 };

/* Purposes of seeds that no workload has. */
enum { FILL = 2 << 20, PLACES };

struct work {
	const struct session *s;
	const char *name; /* "volume data" */
	uint64_t size_bytes;
	struct random random;
	char *buffer; /* CHUNK_BYTES, aligned */
	int fd;
};

static int check_stop(const struct work *w, struct err *e)
{
	return *w->s->o->stop ? err_interrupted(e, *w->s->o->stop) : 0;
}

static int fill(struct work *w, int pass, struct err *e)
{
	uint64_t shown_ns = clock_now_ns();

	for (uint64_t at = 0; at + BLOCK_BYTES <= w->size_bytes; at += CHUNK_BYTES) {
		uint64_t left = w->size_bytes - at;
		size_t bytes = (size_t)MIN(left - left % BLOCK_BYTES, (uint64_t)CHUNK_BYTES);
		int r = check_stop(w, e);

		random_fill(&w->random, w->buffer, bytes);
		if (!r)
			r = fileio_pwrite_full(
				w->fd, w->buffer, bytes, (off_t)at, w->name, e);
		if (r)
			return r;
		if (clock_now_ns() - shown_ns < NS_PER_S)
			continue;
		shown_ns = clock_now_ns();
		log_line(w->s->o->log, LOG_PROGRESS, "precondition %s: writing, %.0f %%",
			w->name,
			100 * ((double)pass + (double)at / (double)w->size_bytes) / PASSES);
	}
	return 0;
}

/* Random writes a second. */
static int do_round(struct work *w, double *rate, struct err *e)
{
	uint64_t blocks = w->size_bytes / BLOCK_BYTES, begun = clock_now_ns(), count = 0;
	uint64_t round_ns = w->s->x->design.precondition_ns, spent;

	do {
		int r = check_stop(w, e);

		random_fill(&w->random, w->buffer, BLOCK_BYTES);
		if (!r)
			r = fileio_pwrite_full(w->fd, w->buffer, BLOCK_BYTES,
				(off_t)(random_below(&w->random, blocks) * BLOCK_BYTES),
				w->name, e);
		if (r)
			return r;
		count++;
		spent = clock_now_ns() - begun;
	} while (spent < round_ns);
	*rate = (double)count * NS_PER_S / (double)spent;
	return 0;
}

static int do_rounds(struct work *w, json_t *rates, bool *steady, struct err *e)
{
	double values[STEADY_ROUNDS_MAX];
	size_t n = 0;

	do {
		int r = do_round(w, &values[n], e);

		if (r)
			return r;
		json_array_append_new(rates, json_real(values[n++]));
		log_line(w->s->o->log, LOG_PROGRESS,
			"precondition %s: round %zu, %.0f writes/s", w->name, n,
			values[n - 1]);
	} while (n < STEADY_ROUNDS_MAX && !steady_is_reached(values, n));
	*steady = steady_is_reached(values, n);
	log_line(w->s->o->log, *steady ? LOG_NOTE : LOG_WARNING,
		"precondition %s: %s after %zu rounds, %.0f writes/s", w->name,
		*steady ? "steady" : "not steady", n, values[n - 1]);
	return 0;
}

static int record(struct session *s, const struct work *w, json_t *rates, bool steady,
	struct err *e)
{
	json_t *list = json_object_get(s->environment, "precondition");

	if (!list && s->environment) {
		list = json_array();
		json_object_set_new(s->environment, "precondition", list);
	}
	if (!list ||
		json_array_append_new(list,
			json_pack("{ss,sI,si,sI,sO,sb}", "device", w->name, "size_bytes",
				(json_int_t)w->size_bytes, "passes", PASSES, "round_ns",
				(json_int_t)s->x->design.precondition_ns, "writes_per_s",
				rates, "steady", steady)))
		return err_set(e, ENOMEM, "precondition");
	return bundle_set_environment(s->bundle, s->environment, e);
}

static int write_device(struct session *s, struct work *w, struct err *e)
{
	json_auto_t *rates = json_array();
	bool steady = false;
	int r = rates ? 0 : err_set(e, ENOMEM, "precondition");

	for (int pass = 0; !r && pass < PASSES; pass++)
		r = fill(w, pass, e);
	if (!r)
		r = do_rounds(w, rates, &steady, e);
	if (!r && fsync(w->fd))
		r = err_set(e, errno, "sync %s", w->name);
	return r ? r : record(s, w, rates, steady, e);
}

/* What is to become a journal device may carry the journal of an earlier experiment, and
 * nothing else. */
static int check_journal(const struct claim *claim, struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list list = {0};
	_cleanup_free_ char *what = NULL;
	int r = signature_list_read(&list, claim_fd(claim), claim_path(claim), e);

	if (r || !list.count || (list.count == 1 && !strcmp(list.items[0].type, "jbd")))
		return r;
	what = signature_list_describe(&list);
	return err_refuse(e, "%s carries %s and is not preconditioned", claim_path(claim),
		what ? what : "something");
}

static int condition(struct session *s, const struct session_device *d, const char *name,
	bool journal, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	_cleanup_free_ char *buffer = NULL;
	_cleanup_close_ int fd = -1;
	struct work w = {.s = s, .name = name, .size_bytes = d->identity.size_bytes};
	char held[40];
	int r = devices_hold_to_overwrite(&claim, d, e);

	if (!r && journal)
		r = check_journal(claim, e);
	if (r)
		return r;
	if (posix_memalign((void **)&buffer, BLOCK_BYTES, CHUNK_BYTES))
		return err_set(e, ENOMEM, "precondition %s", name);
	snprintf(held, sizeof(held), "/proc/self/fd/%d", claim_fd(claim));
	fd = open(held, O_WRONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return err_set(e, errno, "open %s", d->path);
	w.buffer = buffer;
	w.fd = fd;
	random_init(&w.random, random_derive(s->x->seed, FILL));
	r = write_device(s, &w, e);
	return r ? r : history_note(s, "preconditioned", name, e);
}

/* Had a volume its journal there before the run? */
static bool is_home(const struct session *s, const struct session_device *d)
{
	for (size_t i = 0; i < s->x->volume_count; i++)
		if (s->volumes[i].home.path &&
			s->volumes[i].home.identity.devno == d->identity.devno)
			return true;
	return false;
}

static bool all_volumes_are_made(const struct session *s)
{
	for (size_t i = 0; i < s->x->volume_count; i++)
		if (!s->x->volumes[i].type)
			return false;
	return true;
}

/* A process that goes on with a run does what is not done, as long as nothing was made on
 * any device; and it may have made a scratch disk anew. */
static bool is_done(const struct session *s, const struct session_device *d,
	const char *name)
{
	if (!history_last(s, "preconditioned", name) &&
		!history_last(s, "make made place placed", NULL))
		return false;
	return !(d->disk && s->has_new_disks && all_volumes_are_made(s));
}

static int consider(struct session *s, const struct session_device *d, const char *role,
	const char *of, struct err *e)
{
	_cleanup_free_ char *name = NULL;
	bool journal = !strcmp(role, "journal");
	int r;

	if (asprintf(&name, "%s %s", role, of) < 0) {
		name = NULL;
		return err_set(e, ENOMEM, "precondition");
	}
	if (!d->path || d->identity.rotational == DEVICE_YES || is_home(s, d) ||
		is_done(s, d, name))
		return 0;
	r = condition(s, d, name, journal, e);
	return r ? err_wrap(e, r, "precondition %s", name) : 0;
}

/* Several arms may have one journal device. */
static bool is_first(const struct session *s, size_t arm)
{
	for (size_t i = 0; i < arm; i++)
		if (s->journals[i].path && s->journals[arm].path &&
			s->journals[i].identity.devno == s->journals[arm].identity.devno)
			return false;
	return true;
}

int precondition_devices(void *session, struct err *e)
{
	struct session *s = session;
	int r = 0;

	if (!s->x->design.precondition_ns)
		return 0;
	for (size_t i = 0; !r && i < s->x->volume_count; i++)
		if (s->x->volumes[i].type && !history_is_made(s, &s->volumes[i]))
			r = consider(s, &s->volumes[i].device, "volume",
				s->x->volumes[i].name, e);
	for (size_t i = 0; !r && i < s->x->arm_count; i++)
		if (is_first(s, i))
			r = consider(s, &s->journals[i], "journal", s->x->arms[i].name, e);
	return r;
}
