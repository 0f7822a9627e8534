/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A disk model on the real clock; see model_device.h.
 *
 * The model is asked at once for the time at which a request will be done; then the I/O on
 * the data file is made, and the answer left to the reply queue.  What the I/O takes is
 * hidden behind the modelled time; where it is longer, the answer is late, and `late_*`
 * in the counters say so.
 *
 * What the way to us and back takes (measured beforehand, the lead), and by how much
 * answers were late, is taken off the requests that follow, so that a sequence of requests
 * takes as long as the model says, though the shortest ones cannot.  What is owed that way
 * is bounded, because a machine that stood still does not owe a fast disk afterwards.
 *
 * The data file is read and written through the page cache and never synced: a flush is
 * an event of the model.  What survives a crash of this machine is not promised for a
 * scratch disk.
 */

#include "scratch/model_device.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "scratch/model.h"
#include "scratch/model_faults.h"
#include "scratch/model_json.h"
#include "scratch/model_volatile.h"

#define QUEUE_ROOM 4096
#define LATE_NS (100 * NS_PER_US) /* an answer later than this is counted as late */
#define DEBT_NS_MAX (500 * NS_PER_US)

enum charge { CHARGE_MODEL, CHARGE_FREE, CHARGE_FIXED };

struct model_device {
	const struct model_device_options *o;
	struct reply_queue *replies;
	pthread_mutex_t lock; /* of all below */
	struct model *model;
	enum charge charge;
	uint64_t fixed_ns;
	uint64_t lead_ns;	/* what the way to us and back takes */
	uint64_t debt_ns;	/* by how much we are behind the model */
	uint64_t late_until_ns; /* end of the last interval in the debt */
	uint64_t late_requests, late_ns, errors;
	struct model_faults faults;
	/* Once it can be lost; it stays then.  Also read without the lock. */
	struct model_volatile *_Atomic unflushed;
};

static void add_debt(struct model_device *d, uint64_t ns)
{
	d->debt_ns = MIN(d->debt_ns + ns, DEBT_NS_MAX);
}

/* Answers that are late at the same time delay their receivers once. */
static void account_late(struct model_device *d, uint64_t due_ns, uint64_t late_ns)
{
	uint64_t now = due_ns + late_ns, from = MAX(due_ns, d->late_until_ns);

	if (d->charge != CHARGE_MODEL)
		return;
	if (now > from)
		add_debt(d, now - from);
	d->late_until_ns = MAX(now, d->late_until_ns);
	if (late_ns > LATE_NS) {
		d->late_requests++;
		d->late_ns += late_ns;
	}
}

static void deliver(void *user, const struct reply *r, uint64_t late_ns)
{
	struct model_device *d = user;

	pthread_mutex_lock(&d->lock);
	d->errors += r->error != 0;
	account_late(d, r->due_ns, late_ns);
	pthread_mutex_unlock(&d->lock);
	d->o->answer(r);
}

static int set_faults(struct model_device *d, const struct model_parameters *p,
	struct err *e)
{
	struct model_volatile *unflushed = d->unflushed;
	int r = 0;

	model_faults_set(&d->faults, p);
	if (!unflushed && model_faults_can_lose(&d->faults))
		r = model_volatile_new(&unflushed, d->o->data_fd, d->o->size_bytes, e);
	d->unflushed = unflushed;
	return r;
}

int model_device_new(struct model_device **out, const struct model_device_options *o,
	struct err *e)
{
	_cleanup_(model_device_freep) struct model_device *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return err_set(e, ENOMEM, "start disk model");
	d->o = o;
	pthread_mutex_init(&d->lock, NULL);
	d->model = model_new(&o->parameters, o->size_bytes);
	if (!d->model)
		return err_set(e, ENOMEM, "start disk model");
	r = set_faults(d, &o->parameters, e);
	if (!r)
		r = reply_queue_new(&d->replies, QUEUE_ROOM, deliver, d, e);
	if (!r)
		*out = take_ptr(d);
	return r;
}

struct model_device *model_device_free(struct model_device *d)
{
	if (!d)
		return NULL;
	reply_queue_free(d->replies);
	model_free(d->model);
	model_volatile_free(d->unflushed);
	pthread_mutex_destroy(&d->lock);
	free(d);
	return NULL;
}

void model_device_drain(struct model_device *d)
{
	d->replies = reply_queue_free(d->replies);
}

/* As if it had come earlier by the way to us and by what we are behind. */
static uint64_t charge_model(struct model_device *d, struct model_request *r)
{
	uint64_t credit = MIN(d->lead_ns + d->debt_ns, r->seen_ns), due;

	r->arrival_ns = r->seen_ns - credit;
	due = model_serve(d->model, r);
	if (d->o->shared)
		d->o->shared->busy_ns = model_busy_ns(d->model);
	d->debt_ns = 0;
	if (due < r->seen_ns) /* more than there was to be made up */
		add_debt(d, r->seen_ns - due);
	return MAX(due, r->seen_ns);
}

static bool in_disk(const struct model_device *d, uint64_t offset, uint64_t bytes)
{
	return offset <= d->o->size_bytes && bytes <= d->o->size_bytes - offset;
}

/* What the disk does wrong with the request that was charged last.  True: it says that it
 * has carried it out, and does not. */
static bool go_wrong(struct model_device *d, const struct model_request *r,
	struct reply *reply)
{
	struct model_fault fault = model_faults_take(&d->faults, r, reply->due_ns);

	reply->due_ns = fault.due_ns;
	reply->error = fault.error;
	if (fault.vanishes && d->unflushed)
		d->faults.stats.lost_bytes += model_volatile_lose(d->unflushed);
	if (d->o->shared)
		d->o->shared->untrue = d->faults.stats.untrue;
	return fault.ignored;
}

static void wake(struct model_device *d)
{
	uint64_t waits_ns = model_faults_wake(&d->faults, clock_now_ns());

	if (waits_ns)
		reply_queue_hurry(d->replies, waits_ns);
}

/* Takes a request that has just arrived: when will it be done, and how does it end?  False:
 * nothing is to be done with the data file. */
static bool charge(struct model_device *d, const struct model_request *request,
	struct reply *reply)
{
	struct model_request r = *request;
	bool ignored = false;

	pthread_mutex_lock(&d->lock);
	reply->due_ns = r.seen_ns = clock_now_ns();
	if (d->charge == CHARGE_MODEL) {
		reply->due_ns = charge_model(d, &r);
		ignored = go_wrong(d, &r, reply);
	} else if (d->charge == CHARGE_FIXED) {
		reply->due_ns += d->fixed_ns;
	}
	pthread_mutex_unlock(&d->lock);
	if (!in_disk(d, r.offset, r.bytes))
		reply->error = EIO;
	return !reply->error && !ignored;
}

static int read_data(int fd, char *buffer, size_t bytes, uint64_t offset)
{
	_cleanup_(err_clear) struct err e = { 0 };

	fileio_pread_full(fd, buffer, bytes, (off_t)offset, "", &e);
	return e.code;
}

void model_device_read(struct model_device *d, void *context, uint64_t offset,
	size_t bytes)
{
	struct reply r = { .context = context, .bytes = bytes };

	charge(d, &(struct model_request){ MODEL_READ, offset, bytes, 0, 0 }, &r);
	r.data = malloc(bytes ? bytes : 1);
	if (!r.data)
		r.error = ENOMEM;
	else if (!r.error)
		r.error = read_data(d->o->data_fd, r.data, bytes, offset);
	reply_queue_add(d->replies, &r);
}

static int keep_old(struct model_device *d, uint64_t offset, uint64_t bytes)
{
	return d->unflushed ? model_volatile_keep(d->unflushed, offset, bytes) : 0;
}

static int write_data(struct model_device *d, const void *buffer, size_t bytes,
	uint64_t offset)
{
	_cleanup_(err_clear) struct err e = { 0 };
	int error = keep_old(d, offset, bytes);

	if (error)
		return error;
	fileio_pwrite_full(d->o->data_fd, buffer, bytes, (off_t)offset, "", &e);
	return e.code;
}

void model_device_write(struct model_device *d, void *context, uint64_t offset,
	const void *buffer, size_t bytes)
{
	struct reply r = { .context = context, .bytes = bytes };

	if (charge(d, &(struct model_request){ MODEL_WRITE, offset, bytes, 0, 0 }, &r))
		r.error = write_data(d, buffer, bytes, offset);
	reply_queue_add(d->replies, &r);
}

void model_device_flush(struct model_device *d, void *context)
{
	struct reply r = { .context = context };

	if (charge(d, &(struct model_request){ .kind = MODEL_FLUSH }, &r) && d->unflushed)
		model_volatile_flush(d->unflushed);
	reply_queue_add(d->replies, &r);
}

void model_device_punch(struct model_device *d, void *context, int mode, uint64_t offset,
	uint64_t bytes)
{
	struct reply r = { .context = context };

	if (charge(d, &(struct model_request){ MODEL_DISCARD, offset, bytes, 0, 0 }, &r))
		r.error = keep_old(d, offset, bytes);
	else
		mode = 0;
	if (mode && !r.error && fallocate(d->o->data_fd, mode, (off_t)offset, (off_t)bytes))
		r.error = errno;
	reply_queue_add(d->replies, &r);
}

char *model_device_stats(struct model_device *d)
{
	json_t *o;
	char *text;

	pthread_mutex_lock(&d->lock);
	o = model_stats_json(model_stats(d->model));
	json_object_update_new(o,
		json_pack("{ss,ss,sI,so,sI,sI,sI,sI}", "schema", MODEL_STATS_SCHEMA, "name",
			d->o->name, "size_bytes", (json_int_t)d->o->size_bytes, "model",
			model_parameters_json(&d->faults.p), "lead_ns",
			(json_int_t)d->lead_ns, "late_requests",
			(json_int_t)d->late_requests, "late_ns", (json_int_t)d->late_ns,
			"errors", (json_int_t)d->errors));
	json_object_update_new(o, model_faults_json(&d->faults));
	pthread_mutex_unlock(&d->lock);
	text = json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	return text;
}

static int obey(struct model_device *d, const char *word, bool with_ns, uint64_t ns)
{
	if (!strcmp(word, MODEL_CONTROL_RESET) && !with_ns) {
		model_stats_reset(d->model);
		model_faults_count_anew(&d->faults, clock_now_ns());
		d->late_requests = d->late_ns = d->errors = 0;
	} else if (!strcmp(word, MODEL_CONTROL_CHARGE) && !with_ns) {
		d->charge = CHARGE_MODEL;
	} else if (!strcmp(word, MODEL_CONTROL_FREE) && !with_ns) {
		d->charge = CHARGE_FREE;
		wake(d);
	} else if (!strcmp(word, MODEL_CONTROL_WAKE) && !with_ns) {
		wake(d);
	} else if (!strcmp(word, MODEL_CONTROL_FIXED) && with_ns) {
		d->charge = CHARGE_FIXED;
		d->fixed_ns = ns;
	} else if (!strcmp(word, MODEL_CONTROL_LEAD) && with_ns) {
		d->lead_ns = ns;
	} else {
		return -EINVAL;
	}
	return 0;
}

/* What hangs is answered: the disk is another one now. */
static int change_faults(struct model_device *d, const char *text)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct model_parameters p = d->faults.p;
	int r = model_parameters_parse_faults(text, &p, &e);

	if (r)
		return r;
	wake(d);
	return set_faults(d, &p, &e);
}

char *model_device_control(struct model_device *d, const char *line)
{
	unsigned long long ns = 0;
	char word[16] = "", faults[512] = "";
	int n = sscanf(line, "%15s %llu", word, &ns), r;

	if (n == 1 && !strcmp(word, MODEL_CONTROL_STATS))
		return model_device_stats(d);
	pthread_mutex_lock(&d->lock);
	if (sscanf(line, MODEL_CONTROL_FAULT " %511s", faults) == 1)
		r = change_faults(d, faults);
	else
		r = obey(d, word, n == 2, ns);
	pthread_mutex_unlock(&d->lock);
	return strdup(r ? MODEL_CONTROL_UNKNOWN : MODEL_CONTROL_OK);
}
