/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Answers that wait for their time; see reply_queue.h.
 *
 * A heap ordered by due time and, for equal times, by arrival.  The thread waits on a
 * condition with the monotonic clock until SPIN_NS before the earliest answer is due; an
 * earlier one that arrives wakes it.  An answer whose time has already come is given by
 * the thread that brings it.
 */

#include "scratch/reply_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "core/clock.h"

/* About what a timer and the way back onto a processor take. */
#define SPIN_NS (50 * NS_PER_US)

struct entry {
	struct reply reply;
	uint64_t sequence;
};

struct reply_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	struct entry *heap;
	size_t count, room;
	uint64_t sequence;
	bool closing;
	reply_function *deliver;
	void *user;
};

static bool before(const struct entry *a, const struct entry *b)
{
	if (a->reply.due_ns != b->reply.due_ns)
		return a->reply.due_ns < b->reply.due_ns;
	return a->sequence < b->sequence;
}

static void swap(struct entry *a, struct entry *b)
{
	struct entry t = *a;

	*a = *b;
	*b = t;
}

static void heap_push_entry(struct reply_queue *q, const struct entry *x)
{
	size_t i = q->count++;

	q->heap[i] = *x;
	for (; i && before(&q->heap[i], &q->heap[(i - 1) / 2]); i = (i - 1) / 2)
		swap(&q->heap[i], &q->heap[(i - 1) / 2]);
}

static void heap_push(struct reply_queue *q, const struct reply *r)
{
	heap_push_entry(q, &(struct entry){ *r, q->sequence++ });
}

static struct reply heap_pop(struct reply_queue *q)
{
	struct reply first = q->heap[0].reply;
	size_t i = 0, child;

	q->heap[0] = q->heap[--q->count];
	for (;;) {
		child = 2 * i + 1;
		if (child >= q->count)
			return first;
		if (child + 1 < q->count && before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (!before(&q->heap[child], &q->heap[i]))
			return first;
		swap(&q->heap[i], &q->heap[child]);
		i = child;
	}
}

static void hand_out(struct reply_queue *q, const struct reply *r)
{
	uint64_t now = clock_now_ns();

	q->deliver(q->user, r, now > r->due_ns ? now - r->due_ns : 0);
	free(r->data);
}

static void wait_until(struct reply_queue *q, uint64_t ns)
{
	const struct timespec until = { .tv_sec = (time_t)(ns / NS_PER_S),
		.tv_nsec = (long)(ns % NS_PER_S) };

	pthread_cond_timedwait(&q->changed, &q->lock, &until);
}

/* One round with the lock held.  False when there is nothing left and none will come. */
static bool serve_one(struct reply_queue *q)
{
	struct reply r;
	bool closing = q->closing;
	uint64_t due;

	if (!q->count) {
		if (closing)
			return false;
		pthread_cond_wait(&q->changed, &q->lock);
		return true;
	}
	due = q->heap[0].reply.due_ns;
	if (!closing && clock_now_ns() + SPIN_NS < due) {
		wait_until(q, due - SPIN_NS);
		return true;
	}
	r = heap_pop(q);
	pthread_mutex_unlock(&q->lock);
	while (!closing && clock_now_ns() < due)
		;
	hand_out(q, &r);
	pthread_mutex_lock(&q->lock);
	return true;
}

static void *serve(void *argument)
{
	struct reply_queue *q = argument;

	pthread_mutex_lock(&q->lock);
	while (serve_one(q))
		;
	pthread_mutex_unlock(&q->lock);
	return NULL;
}

static int init_locks(struct reply_queue *q)
{
	pthread_condattr_t attributes;
	int r = pthread_condattr_init(&attributes);

	if (r)
		return r;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	r = pthread_cond_init(&q->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	if (!r)
		r = pthread_mutex_init(&q->lock, NULL);
	return r;
}

int reply_queue_new(struct reply_queue **out, size_t room, reply_function *deliver,
	void *user, struct err *e)
{
	struct reply_queue *q = calloc(1, sizeof(*q));
	int r = ENOMEM;

	if (q)
		q->heap = calloc(room, sizeof(*q->heap));
	if (q && q->heap) {
		q->room = room;
		q->deliver = deliver;
		q->user = user;
		r = init_locks(q);
	}
	if (!r)
		r = pthread_create(&q->thread, NULL, serve, q);
	if (r) {
		if (q)
			free(q->heap);
		free(q);
		return err_set(e, r, "start the thread that answers");
	}
	*out = q;
	return 0;
}

struct reply_queue *reply_queue_free(struct reply_queue *q)
{
	if (!q)
		return NULL;
	pthread_mutex_lock(&q->lock);
	q->closing = true;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
	pthread_join(q->thread, NULL);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	free(q->heap);
	free(q);
	return NULL;
}

void reply_queue_add(struct reply_queue *q, const struct reply *r)
{
	bool first, queued = false;

	if (clock_now_ns() < r->due_ns) {
		pthread_mutex_lock(&q->lock);
		if (q->count < q->room) {
			first = !q->count || r->due_ns < q->heap[0].reply.due_ns;
			heap_push(q, r);
			queued = true;
			if (first)
				pthread_cond_signal(&q->changed);
		}
		pthread_mutex_unlock(&q->lock);
	}
	if (!queued)
		hand_out(q, r);
}

void reply_queue_hurry(struct reply_queue *q, uint64_t from_ns)
{
	uint64_t now = clock_now_ns();
	size_t count;

	pthread_mutex_lock(&q->lock);
	count = q->count;
	q->count = 0;
	for (size_t i = 0; i < count; i++) {
		struct entry x = q->heap[i];

		if (x.reply.due_ns >= from_ns)
			x.reply.due_ns = now;
		heap_push_entry(q, &x);
	}
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}
