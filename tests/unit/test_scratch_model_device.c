/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A disk model on the real clock, over a temporary file.  A machine that is busy answers
 * late, so only what holds there too is asserted: data is right, no answer is early, all
 * are given, and what was late is counted.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "scratch/model_device.h"

#define DISK_BYTES (UINT64_C(16) << 20)
#define BLOCK 4096
#define READ_NS (3 * NS_PER_MS)

/* One request and what became of it. */
struct ticket {
	pthread_mutex_t lock;
	pthread_cond_t answered;
	bool done;
	int error;
	size_t bytes;
	unsigned char data[BLOCK];
	uint64_t sent_ns, done_ns;
};

static void answer(const struct reply *r)
{
	struct ticket *t = r->context;

	pthread_mutex_lock(&t->lock);
	t->done_ns = clock_now_ns();
	t->error = r->error;
	t->bytes = r->bytes;
	if (r->data && !r->error)
		memcpy(t->data, r->data, MIN(r->bytes, sizeof(t->data)));
	t->done = true;
	pthread_cond_signal(&t->answered);
	pthread_mutex_unlock(&t->lock);
}

static void ticket_init(struct ticket *t)
{
	*t = (struct ticket){ .sent_ns = clock_now_ns() };
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->answered, NULL);
}

static uint64_t ticket_wait(struct ticket *t)
{
	pthread_mutex_lock(&t->lock);
	while (!t->done)
		pthread_cond_wait(&t->answered, &t->lock);
	pthread_mutex_unlock(&t->lock);
	return t->done_ns - t->sent_ns;
}

struct fixture {
	struct model_device_options options;
	struct model_device *device;
	char path[32];
	struct model_shared shared;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_(err_clear) struct err e = { 0 };

	strcpy(f->path, "/tmp/jbdlab-model.XXXXXX");
	f->options.data_fd = mkstemp(f->path);
	f->options.name = "test";
	f->options.size_bytes = DISK_BYTES;
	f->options.answer = answer;
	f->options.shared = &f->shared;
	*state = f;
	if (f->options.data_fd < 0 || ftruncate(f->options.data_fd, DISK_BYTES))
		return -1;
	if (model_parameters_parse("ssd,read=3ms,write=1ms,channels=1,overhead=0,interface=0",
		    &f->options.parameters, &e))
		return -1;
	return model_device_new(&f->device, &f->options, &e);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	model_device_free(f->device);
	close(f->options.data_fd);
	unlink(f->path);
	free(f);
	return 0;
}

static uint64_t read_block(struct fixture *f, struct ticket *t, uint64_t offset)
{
	ticket_init(t);
	model_device_read(f->device, t, offset, BLOCK);
	return ticket_wait(t);
}

static json_int_t stat_of(struct fixture *f, const char *group, const char *key)
{
	_cleanup_free_ char *text = model_device_stats(f->device);
	json_t *o = json_loads(text, 0, NULL), *in = group ? json_object_get(o, group) : o;
	json_int_t value = json_integer_value(json_object_get(in, key));

	assert_true(json_is_integer(json_object_get(in, key)));
	json_decref(o);
	return value;
}

static void what_was_written_is_read(void **state)
{
	struct fixture *f = *state;
	unsigned char block[BLOCK];
	struct ticket t;

	memset(block, 0x5a, sizeof(block));
	ticket_init(&t);
	model_device_write(f->device, &t, 5 * BLOCK, block, sizeof(block));
	assert_true(ticket_wait(&t) >= NS_PER_MS);
	assert_int_equal(t.error, 0);
	assert_int_equal(t.bytes, BLOCK);
	read_block(f, &t, 5 * BLOCK);
	assert_int_equal(t.error, 0);
	assert_memory_equal(t.data, block, BLOCK);
	ticket_init(&t);
	model_device_punch(f->device, &t, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		5 * BLOCK, BLOCK);
	ticket_wait(&t);
	assert_int_equal(t.error, 0);
	read_block(f, &t, 5 * BLOCK);
	memset(block, 0, sizeof(block));
	assert_memory_equal(t.data, block, BLOCK);
}

static void no_answer_is_early(void **state)
{
	struct fixture *f = *state;
	uint64_t total = 0;
	struct ticket t;

	for (uint64_t i = 0; i < 30; i++)
		total += read_block(f, &t, i * 7 * BLOCK);
	/* A late answer may be made up by the next one, not more. */
	assert_true(total >= 30 * READ_NS - NS_PER_MS / 2);
	assert_int_equal(stat_of(f, "read", "requests"), 30);
	assert_in_range((uint64_t)stat_of(f, "read", "latency_ns"), 30 * READ_NS,
		30 * (READ_NS + NS_PER_MS / 2));
	assert_in_range((uint64_t)stat_of(f, NULL, "busy_ns"), 30 * READ_NS - NS_PER_MS,
		30 * READ_NS + NS_PER_MS);
}

static void the_time_charged_is_kept_where_it_was_asked_for(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	for (uint64_t i = 0; i < 5; i++)
		read_block(f, &t, i * 7 * BLOCK);
	assert_int_equal(f->shared.busy_ns, 5 * READ_NS);
	free(model_device_control(f->device, MODEL_CONTROL_RESET));
	read_block(f, &t, 0);
	assert_int_equal(f->shared.busy_ns, 6 * READ_NS);
	assert_int_equal(stat_of(f, NULL, "busy_ns"), READ_NS);
	free(model_device_control(f->device, MODEL_CONTROL_FREE));
	read_block(f, &t, 0);
	assert_int_equal(f->shared.busy_ns, 6 * READ_NS);
}

static void requests_queue_in_the_model(void **state)
{
	struct fixture *f = *state;
	struct ticket t[8];

	for (size_t i = 0; i < 8; i++) {
		ticket_init(&t[i]);
		model_device_read(f->device, &t[i], i * BLOCK, BLOCK);
	}
	for (size_t i = 0; i < 8; i++) {
		ticket_wait(&t[i]);
		assert_true(t[i].done_ns >= t[0].sent_ns + (i + 1) * READ_NS - NS_PER_MS / 2);
	}
}

static void what_lies_outside_is_an_error(void **state)
{
	struct fixture *f = *state;
	unsigned char block[BLOCK] = { 0 };
	struct ticket t;

	read_block(f, &t, DISK_BYTES);
	assert_int_equal(t.error, EIO);
	read_block(f, &t, UINT64_MAX - BLOCK + 1);
	assert_int_equal(t.error, EIO);
	ticket_init(&t);
	model_device_write(f->device, &t, DISK_BYTES - BLOCK / 2, block, BLOCK);
	ticket_wait(&t);
	assert_int_equal(t.error, EIO);
	assert_int_equal(stat_of(f, NULL, "errors"), 3);
}

static int write_block(struct fixture *f, unsigned char byte, uint64_t offset)
{
	unsigned char block[BLOCK];
	struct ticket t;

	memset(block, byte, sizeof(block));
	ticket_init(&t);
	model_device_write(f->device, &t, offset, block, BLOCK);
	ticket_wait(&t);
	return t.error;
}

static int flush(struct fixture *f)
{
	struct ticket t;

	ticket_init(&t);
	model_device_flush(f->device, &t);
	ticket_wait(&t);
	return t.error;
}

static void answers(struct fixture *f, const char *question, const char *expected)
{
	_cleanup_free_ char *answer = model_device_control(f->device, question);

	assert_string_equal(answer, expected);
}

static void the_nth_request_of_a_kind_fails(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	answers(f, "fault fail_write=2,fail_times=2,fail_flush=3", MODEL_CONTROL_OK);
	assert_int_equal(write_block(f, 1, 0), 0);
	assert_int_equal(write_block(f, 2, 0), EIO);
	assert_int_equal(write_block(f, 3, 0), EIO);
	read_block(f, &t, 0);
	assert_int_equal(t.error, 0);
	assert_int_equal(t.data[7], 1); /* a write that failed has stored nothing */
	assert_int_equal(write_block(f, 4, 0), 0);
	assert_int_equal(flush(f), 0);
	assert_int_equal(flush(f), 0);
	assert_int_equal(flush(f), EIO);
	assert_int_equal(stat_of(f, NULL, "errors"), 3);
}

static void without_times_all_that_follow_fail_until_the_counters_are_reset(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	answers(f, "fault fail_read=2", MODEL_CONTROL_OK);
	for (int i = 0; i < 4; i++) {
		read_block(f, &t, 0);
		assert_int_equal(t.error, i ? EIO : 0);
	}
	free(model_device_control(f->device, MODEL_CONTROL_RESET));
	read_block(f, &t, 0);
	assert_int_equal(t.error, 0);
}

/* Requests that were sent while it hangs; is any answered before it is woken? */
static void from_the_nth_request_on_it_hangs_until_it_is_woken(void **state)
{
	const struct timespec a_while = { .tv_nsec = 30000000 };
	struct fixture *f = *state;
	struct ticket t[3], after;

	answers(f, "fault hang=3", MODEL_CONTROL_OK);
	assert_int_equal(write_block(f, 1, 0), 0);
	assert_int_equal(flush(f), 0);
	ticket_init(&t[0]);
	model_device_read(f->device, &t[0], 0, BLOCK);
	ticket_init(&t[1]);
	model_device_flush(f->device, &t[1]);
	ticket_init(&t[2]);
	model_device_read(f->device, &t[2], BLOCK, BLOCK);
	nanosleep(&a_while, NULL);
	for (size_t i = 0; i < 3; i++) {
		pthread_mutex_lock(&t[i].lock);
		assert_false(t[i].done);
		pthread_mutex_unlock(&t[i].lock);
	}
	answers(f, "wake", MODEL_CONTROL_OK);
	for (size_t i = 0; i < 3; i++) {
		assert_true(ticket_wait(&t[i]) >= 30 * NS_PER_MS);
		assert_int_equal(t[i].error, 0);
	}
	assert_int_equal(t[0].data[7], 1);
	/* Once is enough, until it is counted anew. */
	read_block(f, &after, 0);
	answers(f, "wake", MODEL_CONTROL_OK);
	answers(f, "reset", MODEL_CONTROL_OK);
	read_block(f, &after, 0);
	read_block(f, &after, 0);
	ticket_init(&after);
	model_device_read(f->device, &after, 0, BLOCK);
	nanosleep(&a_while, NULL);
	answers(f, "free", MODEL_CONTROL_OK);
	assert_true(ticket_wait(&after) >= 30 * NS_PER_MS);
}

static void it_hangs_for_the_time_that_was_said(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	answers(f, "fault hang=2,hang_for=60ms", MODEL_CONTROL_OK);
	/* Had it hung here it would not do so again. */
	read_block(f, &t, 0);
	assert_true(read_block(f, &t, 0) >= 60 * NS_PER_MS);
	assert_int_equal(t.error, 0);
	assert_true(read_block(f, &t, 0) >= READ_NS - NS_PER_MS / 2);
	assert_int_equal(stat_of(f, "read", "requests"), 3);
}

static int read_byte(struct fixture *f, uint64_t offset)
{
	struct ticket t;

	read_block(f, &t, offset);
	return t.error ? -t.error : t.data[7];
}

static void a_bad_place_fails_for_whatever_touches_it(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	assert_int_equal(write_block(f, 1, 2 * BLOCK), 0);
	answers(f, "fault bad_at=9k,bad_bytes=512", MODEL_CONTROL_OK);
	assert_int_equal(read_byte(f, BLOCK), 0);
	assert_int_equal(read_byte(f, 2 * BLOCK), -EIO);
	assert_int_equal(write_block(f, 2, 2 * BLOCK), EIO);
	assert_int_equal(read_byte(f, 3 * BLOCK), 0);
	ticket_init(&t);
	model_device_read(f->device, &t, 9216 + 512, 512);
	ticket_wait(&t);
	assert_int_equal(t.error, 0);
	/* Once: as a sector that the disk replaces. */
	answers(f, "fault bad_at=9k,bad_bytes=512,fail_times=1", MODEL_CONTROL_OK);
	assert_int_equal(read_byte(f, 2 * BLOCK), -EIO);
	assert_int_equal(read_byte(f, 2 * BLOCK), 1);
	answers(f, "fault none", MODEL_CONTROL_OK);
}

static void dropped_writes_are_acknowledged_counted_and_not_stored(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(write_block(f, 1, 0), 0);
	answers(f, "fault drop_write=2,fail_times=2", MODEL_CONTROL_OK);
	for (unsigned char i = 2; i < 6; i++)
		assert_int_equal(write_block(f, i, i * BLOCK), 0);
	assert_int_equal(read_byte(f, 2 * BLOCK), 2);
	assert_int_equal(read_byte(f, 3 * BLOCK), 0);
	assert_int_equal(read_byte(f, 4 * BLOCK), 0);
	assert_int_equal(read_byte(f, 5 * BLOCK), 5);
	assert_int_equal(stat_of(f, NULL, "dropped_writes"), 2);
	assert_int_equal(stat_of(f, NULL, "dropped_bytes"), 2 * BLOCK);
	assert_int_equal(stat_of(f, NULL, "errors"), 0);
	assert_int_equal(f->shared.untrue, 2);
	answers(f, "reset", MODEL_CONTROL_OK);
	assert_int_equal(stat_of(f, NULL, "dropped_writes"), 0);
	assert_int_equal(f->shared.untrue, 2); /* never set back, as the time charged */
}

static void what_was_not_flushed_is_lost_when_it_vanishes(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	assert_int_equal(write_block(f, 1, 0), 0); /* nobody watched yet */
	answers(f, "fault vanish=6", MODEL_CONTROL_OK);
	assert_int_equal(write_block(f, 2, 0), 0);
	assert_int_equal(flush(f), 0);
	assert_int_equal(write_block(f, 3, 0), 0);
	assert_int_equal(write_block(f, 4, 512), 0); /* over two pages */
	ticket_init(&t);
	model_device_punch(f->device, &t, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, BLOCK);
	ticket_wait(&t);
	assert_int_equal(t.error, 0);
	assert_int_equal(read_byte(f, 0), -EIO);
	assert_int_equal(write_block(f, 5, 0), EIO);
	assert_int_equal(flush(f), EIO);
	answers(f, "reset", MODEL_CONTROL_OK);
	assert_int_equal(flush(f), EIO); /* counting anew does not bring it back */
	answers(f, "wake", MODEL_CONTROL_OK);
	assert_int_equal(read_byte(f, 0), 2);
	assert_int_equal(read_byte(f, BLOCK), 0);
	assert_int_equal(f->shared.untrue, 0); /* it promised nothing of this */
}

static void a_flush_that_is_not_made_keeps_nothing(void **state)
{
	struct fixture *f = *state;

	answers(f, "fault lie_flush=2", MODEL_CONTROL_OK);
	assert_int_equal(write_block(f, 1, 0), 0);
	assert_int_equal(flush(f), 0);
	assert_int_equal(write_block(f, 2, 0), 0);
	assert_int_equal(flush(f), 0);
	assert_int_equal(read_byte(f, 0), 2);
	assert_int_equal(stat_of(f, NULL, "unmade_flushes"), 1);
	assert_int_equal(f->shared.untrue, 1);
	answers(f, "fault vanish=1", MODEL_CONTROL_OK);
	assert_int_equal(read_byte(f, 0), -EIO);
	assert_int_equal(stat_of(f, NULL, "lost_bytes"), BLOCK);
	answers(f, "fault none", MODEL_CONTROL_OK);
	assert_int_equal(read_byte(f, 0), 1);
}

static void it_gets_slow_with_the_nth_request(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	answers(f, "fault slow=2,slow_by=50ms", MODEL_CONTROL_OK);
	read_block(f, &t, 0);
	assert_int_equal(stat_of(f, "read", "requests"), 1);
	assert_true(read_block(f, &t, 0) >= 50 * NS_PER_MS);
	assert_true(read_block(f, &t, 0) >= 50 * NS_PER_MS);
}

static void new_faults_wake_a_disk_that_hangs(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	answers(f, "fault hang=1", MODEL_CONTROL_OK);
	ticket_init(&t);
	model_device_read(f->device, &t, 0, BLOCK);
	answers(f, "fault fail_read=2", MODEL_CONTROL_OK);
	ticket_wait(&t);
	assert_int_equal(t.error, 0);
	assert_int_equal(read_byte(f, 0), 0);
	assert_int_equal(read_byte(f, 0), -EIO);
	/* What is none changes nothing. */
	answers(f, "fault fail_read=x", MODEL_CONTROL_UNKNOWN);
	answers(f, "fault flush=0", MODEL_CONTROL_UNKNOWN);
	answers(f, "fault", MODEL_CONTROL_UNKNOWN);
	assert_int_equal(read_byte(f, 0), -EIO);
}

static void words_control_the_model(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *stats = NULL;
	struct ticket t;

	answers(f, "fixed 10000000\n", MODEL_CONTROL_OK);
	assert_true(read_block(f, &t, 0) >= 10 * NS_PER_MS);
	assert_int_equal(stat_of(f, "read", "requests"), 0); /* not the model's */
	answers(f, "lead 100000", MODEL_CONTROL_OK);
	assert_int_equal(stat_of(f, NULL, "lead_ns"), 100000);
	answers(f, "charge", MODEL_CONTROL_OK);
	read_block(f, &t, 0);
	assert_int_equal(stat_of(f, "read", "requests"), 1);
	answers(f, "reset", MODEL_CONTROL_OK);
	assert_int_equal(stat_of(f, "read", "requests"), 0);
	stats = model_device_control(f->device, "stats");
	assert_int_equal(stats[0], '{');
	answers(f, "", MODEL_CONTROL_UNKNOWN);
	answers(f, "fixed", MODEL_CONTROL_UNKNOWN);
	answers(f, "reset 1", MODEL_CONTROL_UNKNOWN);
	answers(f, "faster", MODEL_CONTROL_UNKNOWN);
}

static void what_still_waits_is_answered_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct ticket t;

	answers(f, "fixed 3600000000000", MODEL_CONTROL_OK);
	ticket_init(&t);
	model_device_flush(f->device, &t);
	f->device = model_device_free(f->device);
	assert_true(t.done);
	assert_int_equal(t.error, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_written_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(no_answer_is_early, setup, teardown),
		cmocka_unit_test_setup_teardown(
			the_time_charged_is_kept_where_it_was_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(requests_queue_in_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(what_lies_outside_is_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(the_nth_request_of_a_kind_fails, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			without_times_all_that_follow_fail_until_the_counters_are_reset,
			setup, teardown),
		cmocka_unit_test_setup_teardown(
			from_the_nth_request_on_it_hangs_until_it_is_woken, setup, teardown),
		cmocka_unit_test_setup_teardown(it_hangs_for_the_time_that_was_said, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			a_bad_place_fails_for_whatever_touches_it, setup, teardown),
		cmocka_unit_test_setup_teardown(
			dropped_writes_are_acknowledged_counted_and_not_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(
			what_was_not_flushed_is_lost_when_it_vanishes, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_flush_that_is_not_made_keeps_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			it_gets_slow_with_the_nth_request, setup, teardown),
		cmocka_unit_test_setup_teardown(
			new_faults_wake_a_disk_that_hangs, setup, teardown),
		cmocka_unit_test_setup_teardown(words_control_the_model, setup, teardown),
		cmocka_unit_test_setup_teardown(what_still_waits_is_answered_at_the_end, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
