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
#include "scratch/model_json.h"

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
	uint64_t hang_until_ns; /* 0: it has not begun to hang */
	uint64_t late_requests, late_ns, errors;
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
	if (d->o->busy_ns)
		*d->o->busy_ns = model_busy_ns(d->model);
	d->debt_ns = 0;
	if (due < r->seen_ns) /* more than there was to be made up */
		add_debt(d, r->seen_ns - due);
	return MAX(due, r->seen_ns);
}

static bool in_disk(const struct model_device *d, uint64_t offset, uint64_t bytes)
{
	return offset <= d->o->size_bytes && bytes <= d->o->size_bytes - offset;
}

/* Is the request that was charged last one of those that are to fail? */
static bool is_faulty(const struct model_device *d, enum model_kind kind)
{
	const struct model_parameters *p = &d->o->parameters;
	const uint64_t first[MODEL_KINDS] = { [MODEL_READ] = p->fail_read,
		[MODEL_WRITE] = p->fail_write, [MODEL_FLUSH] = p->fail_flush };
	uint64_t n = model_stats(d->model)->kinds[kind].requests;

	return first[kind] && n >= first[kind] &&
	       (!p->fail_times || n - first[kind] < p->fail_times);
}

static uint64_t all_requests(const struct model_device *d)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MODEL_KINDS; i++)
		sum += model_stats(d->model)->kinds[i].requests;
	return sum;
}

/* Until when nothing is answered; in the past: it does not hang.  A disk that is woken
 * has hung until now. */
static uint64_t hangs_until_ns(struct model_device *d, uint64_t now_ns)
{
	const struct model_parameters *p = &d->o->parameters;

	if (p->hang && !d->hang_until_ns && all_requests(d) >= p->hang)
		d->hang_until_ns = p->hang_ns ? now_ns + p->hang_ns : UINT64_MAX;
	return d->hang_until_ns;
}

static void wake(struct model_device *d)
{
	uint64_t now_ns = clock_now_ns();

	if (d->hang_until_ns <= now_ns)
		return;
	reply_queue_hurry(d->replies, d->hang_until_ns);
	d->hang_until_ns = now_ns;
}

/* Takes a request that has just arrived: when will it be done, and will it fail? */
static void charge(struct model_device *d, const struct model_request *request,
	struct reply *reply)
{
	struct model_request r = *request;

	pthread_mutex_lock(&d->lock);
	reply->due_ns = r.seen_ns = clock_now_ns();
	if (d->charge == CHARGE_MODEL) {
		reply->due_ns = charge_model(d, &r);
		reply->due_ns = MAX(reply->due_ns, hangs_until_ns(d, r.seen_ns));
		reply->error = is_faulty(d, r.kind) ? EIO : 0;
	} else if (d->charge == CHARGE_FIXED) {
		reply->due_ns += d->fixed_ns;
	}
	pthread_mutex_unlock(&d->lock);
	if (!in_disk(d, r.offset, r.bytes))
		reply->error = EIO;
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

static int write_data(int fd, const void *buffer, size_t bytes, uint64_t offset)
{
	_cleanup_(err_clear) struct err e = { 0 };

	fileio_pwrite_full(fd, buffer, bytes, (off_t)offset, "", &e);
	return e.code;
}

void model_device_write(struct model_device *d, void *context, uint64_t offset,
	const void *buffer, size_t bytes)
{
	struct reply r = { .context = context, .bytes = bytes };

	charge(d, &(struct model_request){ MODEL_WRITE, offset, bytes, 0, 0 }, &r);
	if (!r.error)
		r.error = write_data(d->o->data_fd, buffer, bytes, offset);
	reply_queue_add(d->replies, &r);
}

void model_device_flush(struct model_device *d, void *context)
{
	struct reply r = { .context = context };

	charge(d, &(struct model_request){ .kind = MODEL_FLUSH }, &r);
	reply_queue_add(d->replies, &r);
}

void model_device_punch(struct model_device *d, void *context, int mode, uint64_t offset,
	uint64_t bytes)
{
	struct reply r = { .context = context };

	charge(d, &(struct model_request){ MODEL_DISCARD, offset, bytes, 0, 0 }, &r);
	if (!r.error && fallocate(d->o->data_fd, mode, (off_t)offset, (off_t)bytes))
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
			model_parameters_json(&d->o->parameters), "lead_ns",
			(json_int_t)d->lead_ns, "late_requests",
			(json_int_t)d->late_requests, "late_ns", (json_int_t)d->late_ns,
			"errors", (json_int_t)d->errors));
	pthread_mutex_unlock(&d->lock);
	text = json_dumps(o, JSON_INDENT(2));
	json_decref(o);
	return text;
}

static int obey(struct model_device *d, const char *word, bool with_ns, uint64_t ns)
{
	if (!strcmp(word, MODEL_CONTROL_RESET) && !with_ns) {
		model_stats_reset(d->model);
		if (d->hang_until_ns <= clock_now_ns())
			d->hang_until_ns = 0;
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

char *model_device_control(struct model_device *d, const char *line)
{
	unsigned long long ns = 0;
	char word[16] = "";
	int n = sscanf(line, "%15s %llu", word, &ns), r;

	if (n == 1 && !strcmp(word, MODEL_CONTROL_STATS))
		return model_device_stats(d);
	pthread_mutex_lock(&d->lock);
	r = obey(d, word, n == 2, ns);
	pthread_mutex_unlock(&d->lock);
	return strdup(r ? MODEL_CONTROL_UNKNOWN : MODEL_CONTROL_OK);
}
