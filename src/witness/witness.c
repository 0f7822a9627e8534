/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Writing and verifying records; see witness.h.
 *
 * Each writer is a thread and numbers its records from 1.  Record n is begun only when
 * n - 1 is durable, so whatever a power cut leaves must be the records 1 to L in whole
 * and, at most, a fragment of L + 1.  The reader of the acknowledgements may lag behind
 * (they pass through buffers), so L is found by reading; it must not be below the last
 * number that was acknowledged.
 *
 * The content of a record follows from its writer and number alone.  Verifying makes the
 * record again and compares every byte, its checksum among them, which also finds a whole
 * record in the wrong place.
 */

#include "witness/witness.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "witness/kinds.h"

struct job {
	struct writer *writer;
	const struct witness_options *o;
	uint64_t deadline_ns;
	struct err err;
	pthread_t thread;
};

static struct writer *writers_new(const struct witness_options *o, struct err *e)
{
	struct writer *writers = calloc(o->writers, sizeof(*writers));

	if (!writers) {
		err_set(e, ENOMEM, "witness");
		return NULL;
	}
	for (unsigned i = 0; i < o->writers; i++) {
		struct writer *w = &writers[i];

		w->kind = &witness_kinds[i % WITNESS_KINDS];
		w->number = i;
		w->fd = -1;
		if (snprintf(w->path, sizeof(w->path), "%s/w%u.%s", o->directory, i,
			    w->kind->name) >= (int)sizeof(w->path)) {
			err_set(e, ENAMETOOLONG, "directory %s", o->directory);
			free(writers);
			return NULL;
		}
	}
	return writers;
}

static void writers_free(struct writer *writers, unsigned count)
{
	for (unsigned i = 0; writers && i < count; i++)
		if (writers[i].fd >= 0)
			close(writers[i].fd);
	free(writers);
}

/* One write for each line, so that the lines of the threads do not mix. */
static int acknowledge(const struct job *j, struct err *e)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "ACK %u %" PRIu64 "\n", j->writer->number,
		j->writer->last);
	ssize_t done;

	do {
		done = write(j->o->acknowledge, line, (size_t)n);
	} while (done < 0 && errno == EINTR && !*j->o->stop);
	if (done == n || *j->o->stop)
		return 0;
	return err_set(e, done < 0 ? errno : EIO, "acknowledge a record");
}

static void *write_records(void *data)
{
	struct job *j = data;
	struct writer *w = j->writer;

	while (!*j->o->stop && clock_now_ns() < j->deadline_ns) {
		size_t bytes = record_make(w, w->last + 1, w->record);

		if (w->kind->put(w, w->last + 1, bytes, &j->err))
			break;
		w->last++;
		if (acknowledge(j, &j->err))
			break;
	}
	/* One that fails ends the others: a witness that goes on with fewer writers would
	 * vouch for less than was asked. */
	if (j->err.code)
		*j->o->stop = *j->o->stop ? *j->o->stop : SIGUSR1;
	return NULL;
}

static int prepare(struct writer *w, struct err *e)
{
	int r = w->kind->scan(w, e);

	if (!r && w->lost)
		r = err_say(e, EUCLEAN,
			"%s: records are missing already; --verify says which, an empty "
			"directory begins anew",
			w->path);
	return r ? r : w->kind->open(w, e);
}

static int run_jobs(struct job *jobs, const struct witness_options *o, struct err *e)
{
	unsigned started = 0;
	int r = 0;

	for (; !r && started < o->writers; started += !r)
		r = -pthread_create(&jobs[started].thread, NULL, write_records,
			&jobs[started]);
	if (r) {
		*o->stop = SIGUSR1;
		err_set(e, -r, "start a writer");
	}
	for (unsigned i = 0; i < started; i++) {
		pthread_join(jobs[i].thread, NULL);
		if (!r && jobs[i].err.code)
			r = err_say(e, jobs[i].err.code, "%s", err_message(&jobs[i].err));
		err_clear(&jobs[i].err);
	}
	return r;
}

int witness_write(const struct witness_options *o, struct err *e)
{
	struct job jobs[WITNESS_WRITERS_MAX] = { 0 };
	struct writer *writers = writers_new(o, e);
	int r = writers ? 0 : -ENOMEM;

	for (unsigned i = 0; !r && i < o->writers; i++) {
		jobs[i] = (struct job){ .writer = &writers[i], .o = o };
		r = prepare(&writers[i], e);
	}
	for (unsigned i = 0; !r && i < o->writers; i++)
		jobs[i].deadline_ns = o->time_ns ? clock_now_ns() + o->time_ns : UINT64_MAX;
	if (!r)
		r = run_jobs(jobs, o, e);
	writers_free(writers, o->writers);
	return r;
}

static void tell(void *data, const struct writer *w, uint64_t n, const char *reason)
{
	struct witness_findings *found = data;

	found->lost_count++;
	if (found->lost)
		found->lost(found->data, w->number, w->kind->name, n, w->path, reason);
}

int witness_verify(const struct witness_options *o,
	const uint64_t acknowledged[static WITNESS_WRITERS_MAX],
	struct witness_findings *found, struct err *e)
{
	struct writer *writers = writers_new(o, e);
	int r = writers ? 0 : -ENOMEM;

	for (unsigned i = 0; !r && i < o->writers; i++) {
		struct writer *w = &writers[i];

		w->on_lost = tell;
		w->data = found;
		r = w->kind->scan(w, e);
		found->last[i] = w->last;
		if (!r && w->last < acknowledged[i])
			record_lost(w, acknowledged[i],
				"acknowledged, but the records end before it");
	}
	writers_free(writers, o->writers);
	return r;
}

const char *witness_kind(unsigned writer)
{
	return witness_kinds[writer % WITNESS_KINDS].name;
}

int witness_read_log(const char *text, unsigned writers,
	uint64_t acknowledged[static WITNESS_WRITERS_MAX], struct err *e)
{
	const char *end;

	/* Without its end of line a number may be cut off. */
	for (; (end = strchr(text, '\n')); text = end + 1) {
		unsigned writer;
		uint64_t number;
		int used = 0;

		if (sscanf(text, "ACK %u %" SCNu64 "%n", &writer, &number, &used) != 2 ||
			(text + used != end && text[used] != '\r'))
			continue;
		if (writer >= writers)
			return err_usage(e, "the log has acknowledgements of writer %u, and "
					    "--writers says %u", writer, writers);
		acknowledged[writer] = number;
	}
	return 0;
}
