/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The arithmetic of a disk.  Times are worked out by hand from round parameters: 100 MB/s
 * of the medium (10 ns a byte), 10 ms a turn, seeks of 1 ms to 9 ms.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <stdlib.h>

#include "core/clock.h"
#include "scratch/model.h"

#define MS NS_PER_MS
#define US NS_PER_US
#define DISK_BYTES (UINT64_C(1) << 30)
#define BLOCK UINT64_C(4096)
#define BLOCK_NS (BLOCK * 10)
#define FAR (DISK_BYTES / 4) /* root 1/2: a seek of 5 ms from address 0 */

static const struct model_parameters disk = {
	.base = "hdd-7200",
	.overhead_ns = 100 * US,
	.cache_bytes = 1 << 20,
	.flush_ns = 2 * MS,
	.channels = 1,
	.transfer_bytes_per_s = 100000000,
	.rpm = 6000,
	.seek_min_ns = 1 * MS,
	.seek_max_ns = 9 * MS,
	.prefetch_bytes = 1 << 20,
};

static const struct model_parameters ssd = {
	.base = "ssd",
	.overhead_ns = 1 * US,
	.interface_bytes_per_s = 1000000000,
	.flush_ns = 500 * US,
	.channels = 2,
	.read_ns = 100 * US,
	.write_ns = 40 * US,
};

static struct model *new_model(const struct model_parameters *p)
{
	struct model *m = model_new(p, DISK_BYTES);

	assert_non_null(m);
	return m;
}

static uint64_t serve(struct model *m, enum model_kind kind, uint64_t offset,
	uint64_t bytes, uint64_t now)
{
	const struct model_request r = { kind, offset, bytes, now, now };

	return model_serve(m, &r);
}

static void a_far_read_pays_seek_half_a_turn_and_transfer(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t done = serve(m, MODEL_READ, FAR, BLOCK, 1000 * MS);

	assert_int_equal(done, 1000 * MS + 100 * US + 5 * MS + 5 * MS + BLOCK_NS);
	assert_int_equal(model_stats(m)->seeks, 1);
	assert_int_equal(model_stats(m)->seek_ns, 5 * MS);
	assert_int_equal(model_stats(m)->rotation_ns, 5 * MS);
}

static void with_angle_the_wait_is_what_is_left_of_the_turn(void **state _unused_)
{
	struct model_parameters p = disk;
	_cleanup_(model_freep) struct model *m = NULL;
	uint64_t done, half_turn = 500000; /* bytes */

	p.rotation = ROTATION_ANGLE;
	m = new_model(&p);
	/* On the track after 1000.1 ms; the address comes by at 1005 ms. */
	done = serve(m, MODEL_READ, half_turn, BLOCK, 1000 * MS);
	assert_int_equal(done, 1005 * MS + BLOCK_NS);
	/* The same address again: out of the cache of the sequential read. */
	done = serve(m, MODEL_READ, half_turn, BLOCK, 1006 * MS);
	assert_int_equal(done, 1006 * MS + 100 * US);
}

static void a_sequential_read_goes_at_the_rate_of_the_medium(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t bytes = 128 << 10, first, now;
	int n = 100;

	first = now = serve(m, MODEL_READ, 0, bytes, 1000 * MS);
	for (int i = 1; i <= n; i++) /* the host thinks 50 us between requests */
		now = serve(m, MODEL_READ, (uint64_t)i * bytes, bytes, now + 50 * US);
	assert_in_range(now, first + (uint64_t)n * bytes * 10,
		first + (uint64_t)n * bytes * 10 + 200 * US);
	assert_int_equal(model_stats(m)->seeks, 0);
}

static void prefetch_is_bounded(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t bytes = UINT64_C(4) << 20, now;

	serve(m, MODEL_READ, 0, BLOCK, 1000 * MS);
	/* A second later 1 MiB has been read ahead, the other 3 MiB have not. */
	now = serve(m, MODEL_READ, BLOCK, bytes, 2000 * MS);
	assert_int_equal(now, 2000 * MS + 100 * US + (UINT64_C(3) << 20) * 10);
}

static void a_write_is_done_when_it_is_in_the_cache(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);

	assert_int_equal(serve(m, MODEL_WRITE, FAR, BLOCK, 1000 * MS),
		1000 * MS + 100 * US);
	assert_int_equal(model_stats(m)->dirty_bytes, BLOCK);
	/* And read from there. */
	assert_int_equal(serve(m, MODEL_READ, FAR, BLOCK, 1001 * MS),
		1001 * MS + 100 * US);
	assert_int_equal(model_stats(m)->cache_hits, 1);
}

static void a_flush_pays_for_every_dirty_range(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t back = 1 * MS + 8 * MS / 2; /* from FAR to 2 * FAR: a quarter again */
	uint64_t done;

	serve(m, MODEL_WRITE, 2 * FAR, BLOCK, 1000 * MS);
	serve(m, MODEL_WRITE, FAR, BLOCK, 1001 * MS);
	done = serve(m, MODEL_FLUSH, 0, 0, 1002 * MS);
	/* By address: to FAR, then on to 2 * FAR (the distance is a block shorter). */
	assert_in_range(done,
		1002 * MS + 100 * US + 5 * MS + 5 * MS + back + 5 * MS + 2 * BLOCK_NS + 2 * MS -
			100,
		1002 * MS + 100 * US + 5 * MS + 5 * MS + back + 5 * MS + 2 * BLOCK_NS + 2 * MS);
	assert_int_equal(model_stats(m)->destaged_extents, 2);
	assert_int_equal(model_stats(m)->dirty_bytes, 0);
}

static void a_flush_of_nothing_costs_a_command(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);

	assert_int_equal(serve(m, MODEL_FLUSH, 0, 0, 1000 * MS), 1000 * MS + 100 * US);
	serve(m, MODEL_WRITE, 0, BLOCK, 1001 * MS);
	assert_true(serve(m, MODEL_FLUSH, 0, 0, 1002 * MS) > 1004 * MS);
	assert_int_equal(serve(m, MODEL_FLUSH, 0, 0, 1100 * MS), 1100 * MS + 100 * US);
}

static void ranges_near_each_other_pass_in_one_turn(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t done;

	/* 64 blocks, one in each 8 KiB: together half a MiB of the track. */
	for (uint64_t i = 0; i < 64; i++)
		serve(m, MODEL_WRITE, i * 2 * BLOCK, BLOCK, 1000 * MS + i * MS);
	done = serve(m, MODEL_FLUSH, 0, 0, 2000 * MS);
	assert_int_equal(done,
		2000 * MS + 100 * US + 5 * MS + (64 * 2 - 1) * BLOCK_NS + 2 * MS);
}

static void streaming_writes_settle_at_the_rate_of_the_medium(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t bytes = 256 << 10, now = 1000 * MS, from = 0;
	uint64_t n = 400;

	for (uint64_t i = 0; i < n; i++) {
		if (i == n / 2)
			from = now;
		now = serve(m, MODEL_WRITE, i * bytes, bytes, now + 20 * US);
	}
	assert_in_range(now - from, (n / 2) * bytes * 10 * 99 / 100,
		(n / 2) * bytes * 10 * 101 / 100);
	assert_true(model_stats(m)->dirty_bytes_max <= disk.cache_bytes);
}

static void a_full_cache_makes_writes_wait_for_seeks(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t now = 1000 * MS, from = 0, n = 2000;

	srandom(1);
	for (uint64_t i = 0; i < n; i++) {
		if (i == n / 2)
			from = now;
		now = serve(m, MODEL_WRITE,
			(uint64_t)random() % (DISK_BYTES / BLOCK) * BLOCK, BLOCK, now);
	}
	/* Each pays half a turn and a short seek to the next of some 250 ranges, which lie
	 * twice as close ahead of the head as on average; a quarter is near enough to pass. */
	assert_in_range((now - from) / (n / 2), 5 * MS, 6 * MS);
}

static void without_a_cache_each_write_pays(void **state _unused_)
{
	struct model_parameters p = disk;
	_cleanup_(model_freep) struct model *m = NULL;

	p.cache_bytes = 0;
	m = new_model(&p);
	assert_int_equal(serve(m, MODEL_WRITE, FAR, BLOCK, 1000 * MS),
		1000 * MS + 100 * US + 10 * MS + BLOCK_NS);
	/* The next block, after a pause: the platter has turned on. */
	assert_int_equal(serve(m, MODEL_WRITE, FAR + BLOCK, BLOCK, 2000 * MS),
		2000 * MS + 100 * US + 5 * MS + BLOCK_NS);
	assert_int_equal(serve(m, MODEL_FLUSH, 0, 0, 3000 * MS),
		3000 * MS + 100 * US + 2 * MS);
}

static void requests_queue_at_the_charged_time(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);
	uint64_t first = serve(m, MODEL_READ, FAR, BLOCK, 1000 * MS);
	uint64_t second = serve(m, MODEL_READ, 0, BLOCK, 1001 * MS);

	assert_in_range(second - first, 10 * MS + BLOCK_NS, 10 * MS + BLOCK_NS + 100);
	/* Together they kept the disk busy without a gap. */
	assert_int_equal(model_stats(m)->busy_ns, second - 1000 * MS);
	assert_int_equal(model_stats(m)->kinds[MODEL_READ].charged_ns, second - 1000 * MS);
	assert_int_equal(model_stats(m)->kinds[MODEL_READ].latency_ns,
		first - 1000 * MS + second - 1001 * MS);
}

static void channels_work_at_the_same_time(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&ssd);
	uint64_t port = 1 * US + BLOCK; /* 1 ns a byte */
	uint64_t now = 1000 * MS;

	assert_int_equal(serve(m, MODEL_READ, 0, BLOCK, now), now + port + 100 * US);
	assert_int_equal(serve(m, MODEL_READ, FAR, BLOCK, now),
		now + 2 * port + 100 * US);
	/* The third waits for the first channel. */
	assert_int_equal(serve(m, MODEL_READ, 2 * FAR, BLOCK, now),
		now + port + 200 * US);
	/* A flush waits for all. */
	assert_int_equal(serve(m, MODEL_FLUSH, 0, 0, now), now + port + 200 * US);
}

/* The way to the model is taken off by an earlier arrival; a request that was only seen
 * after the medium had stopped is late for the block behind the last one all the same. */
static void an_earlier_arrival_does_not_keep_the_medium_moving(void **state _unused_)
{
	struct model_parameters p = disk;
	_cleanup_(model_freep) struct model *m = NULL;
	struct model_request r = { .kind = MODEL_WRITE, .bytes = BLOCK };
	uint64_t done;

	p.cache_bytes = 0;
	m = new_model(&p);
	r.offset = FAR;
	r.arrival_ns = 1000 * MS - 30 * US;
	r.seen_ns = 1000 * MS;
	done = model_serve(m, &r);
	assert_int_equal(done, 1000 * MS - 30 * US + 100 * US + 10 * MS + BLOCK_NS);
	r.offset += BLOCK;
	r.seen_ns = done + 10 * US;
	r.arrival_ns = done - 20 * US;
	assert_int_equal(model_serve(m, &r), done - 20 * US + 100 * US + 5 * MS + BLOCK_NS);
	/* Seen while the medium works: no wait at all. */
	done = done - 20 * US + 100 * US + 5 * MS + BLOCK_NS;
	r.offset += BLOCK;
	r.seen_ns = r.arrival_ns = done - 1 * MS;
	assert_int_equal(model_serve(m, &r), done + BLOCK_NS);
}

static void a_discard_forgets_dirty_data(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&disk);

	serve(m, MODEL_WRITE, 0, 4 * BLOCK, 1000 * MS);
	serve(m, MODEL_DISCARD, BLOCK, BLOCK, 1001 * MS);
	assert_int_equal(model_stats(m)->dirty_bytes, 3 * BLOCK);
}

static void the_time_charged_is_never_set_back(void **state _unused_)
{
	_cleanup_(model_freep) struct model *m = new_model(&ssd);
	const uint64_t port = 1 * US + 4096, alone = port + 100 * US;

	serve(m, MODEL_READ, 0, BLOCK, 1000 * MS);
	model_stats_reset(m);
	/* Two at the same time, on two channels: what they share counts once. */
	serve(m, MODEL_READ, 0, BLOCK, 2000 * MS);
	serve(m, MODEL_READ, FAR, BLOCK, 2000 * MS);
	assert_int_equal(model_stats(m)->busy_ns, port + alone);
	assert_int_equal(model_busy_ns(m), port + alone + alone);
}

static void random_reads_of_the_built_in_disk_take_what_a_data_sheet_says(
	void **state _unused_)
{
	struct model_parameters p;
	struct err e = { 0 };
	_cleanup_(model_freep) struct model *m = NULL;
	uint64_t now = 1000 * MS, n = 20000;

	assert_int_equal(model_parameters_parse("hdd-7200", &p, &e), 0);
	m = new_model(&p);
	srandom(2);
	for (uint64_t i = 0; i < n; i++)
		now = serve(m, MODEL_READ,
			(uint64_t)random() % (DISK_BYTES / BLOCK) * BLOCK, BLOCK, now + US);
	/* 50 us, half a turn 4.17 ms, mean seek 1 + 11 * 8 / 15 = 6.87 ms. */
	assert_in_range((now - 1000 * MS) / n, 10900 * US, 11250 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_far_read_pays_seek_half_a_turn_and_transfer),
		cmocka_unit_test(with_angle_the_wait_is_what_is_left_of_the_turn),
		cmocka_unit_test(a_sequential_read_goes_at_the_rate_of_the_medium),
		cmocka_unit_test(prefetch_is_bounded),
		cmocka_unit_test(a_write_is_done_when_it_is_in_the_cache),
		cmocka_unit_test(a_flush_pays_for_every_dirty_range),
		cmocka_unit_test(a_flush_of_nothing_costs_a_command),
		cmocka_unit_test(ranges_near_each_other_pass_in_one_turn),
		cmocka_unit_test(streaming_writes_settle_at_the_rate_of_the_medium),
		cmocka_unit_test(a_full_cache_makes_writes_wait_for_seeks),
		cmocka_unit_test(without_a_cache_each_write_pays),
		cmocka_unit_test(requests_queue_at_the_charged_time),
		cmocka_unit_test(channels_work_at_the_same_time),
		cmocka_unit_test(an_earlier_arrival_does_not_keep_the_medium_moving),
		cmocka_unit_test(a_discard_forgets_dirty_data),
		cmocka_unit_test(the_time_charged_is_never_set_back),
		cmocka_unit_test(
			random_reads_of_the_built_in_disk_take_what_a_data_sheet_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
