/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A transaction, read back by a parser that shares nothing with the code that wrote it:
 * numbers are taken from bytes, at the offsets that include/linux/jbd2.h gives.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "volume/transaction.h"

static const uint8_t uuid[16] = "0123456789abcdef";

#define SEQUENCE 0x5a5a1234u
#define SECONDS UINT64_C(0x1122334455)

static uint64_t big(const uint8_t *at, int bytes)
{
	uint64_t value = 0;

	while (bytes-- > 0)
		value = value << 8 | *at++;
	return value;
}

/* Images with random numbers and bytes; every seventh begins with the log's magic. */
static struct block_image *make_images(size_t count, uint32_t block_bytes, bool wide)
{
	struct block_image *images = calloc(count + 1, sizeof(*images));

	for (size_t i = 0; i < count; i++) {
		uint64_t number = (uint64_t)random() << (wide ? 12 : 0);

		images[i].block = number;
		images[i].after = malloc(block_bytes);
		for (uint32_t k = 0; k < block_bytes; k++)
			images[i].after[k] = (uint8_t)random();
		if (i % 7 == 0)
			memcpy(images[i].after, "\xc0\x3b\x39\x98", 4);
	}
	return images;
}

static void free_images(struct block_image *images, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(images[i].after);
	free(images);
}

struct parser {
	const uint8_t *log;
	size_t at, end; /* log blocks */
	uint32_t block_bytes;
	bool wide;
	const struct block_image *images;
	size_t seen;
};

static const uint8_t *next_block(struct parser *p)
{
	assert_true(p->at < p->end);
	return p->log + p->at++ * p->block_bytes;
}

static void check_header(const uint8_t *block, uint32_t type)
{
	assert_int_equal(big(block, 4), 0xc03b3998u);
	assert_int_equal(big(block + 4, 4), type);
	assert_int_equal(big(block + 8, 4), SEQUENCE);
}

static void check_image(struct parser *p, uint64_t number, bool escaped)
{
	const struct block_image *image = &p->images[p->seen];
	const uint8_t *log = next_block(p);

	assert_int_equal(number, image->block);
	assert_int_equal(escaped, !memcmp(image->after, "\xc0\x3b\x39\x98", 4));
	if (escaped)
		assert_memory_equal(log, "\0\0\0\0", 4);
	else
		assert_memory_equal(log, image->after, 4);
	assert_memory_equal(log + 4, image->after + 4, p->block_bytes - 4);
	p->seen++;
}

/* A descriptor block and the images that it describes. */
static void check_descriptor(struct parser *p)
{
	const uint8_t *block = next_block(p);
	uint32_t at = 12, flags;
	bool first = true;

	check_header(block, 1);
	do {
		uint64_t number = big(block + at, 4);

		assert_true(at + (p->wide ? 12 : 8) <= p->block_bytes);
		flags = (uint32_t)big(block + at + 6, 2);
		assert_int_equal(flags & ~(1u | 2u | 8u), 0);
		if (p->wide)
			number |= big(block + at + 8, 4) << 32;
		at += p->wide ? 12 : 8;
		/* The UUID follows the first tag and only this one. */
		assert_int_equal(!(flags & 2), first);
		if (first) {
			assert_true(at + 16 <= p->block_bytes);
			assert_memory_equal(block + at, uuid, 16);
			at += 16;
		}
		first = false;
		check_image(p, number, flags & 1);
	} while (!(flags & 8));
}

static void check_commit(struct parser *p)
{
	const uint8_t *block = next_block(p);

	check_header(block, 2);
	/* No checksum; the time. */
	for (int i = 12; i < 48; i++)
		assert_int_equal(block[i], 0);
	assert_int_equal(big(block + 48, 8), SECONDS);
}

static size_t check_round_trip(size_t count, uint32_t block_bytes, bool wide)
{
	struct block_image *images = make_images(count, block_bytes, wide);
	struct transaction_options o = { .block_bytes = block_bytes, .wide = wide,
		.sequence = SEQUENCE, .uuid = uuid, .commit_seconds = SECONDS };
	struct transaction t;
	struct parser p = { .block_bytes = block_bytes, .wide = wide, .images = images };
	size_t descriptors = 0;

	assert_int_equal(transaction_build(&t, &o, images, count, NULL), 0);
	assert_int_equal(t.block_count, transaction_block_count(count, block_bytes, wide));
	p.log = t.blocks;
	p.end = t.block_count;
	while (p.seen < count) {
		check_descriptor(&p);
		descriptors++;
	}
	check_commit(&p);
	assert_int_equal(p.at, p.end);
	transaction_deinit(&t);
	assert_null(t.blocks);
	free_images(images, count);
	return descriptors;
}

static void one_image_is_three_blocks(void **state _unused_)
{
	assert_int_equal(transaction_block_count(1, 4096, false), 3);
	check_round_trip(1, 4096, false);
}

static void a_log_of_any_shape_is_read_back(void **state _unused_)
{
	static const uint32_t block_bytes[] = { 1024, 2048, 4096, 65536 };
	static const size_t counts[] = { 1, 2, 7, 8, 100, 124, 125, 126, 300 };

	for (size_t b = 0; b < ARRAY_SIZE(block_bytes); b++)
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
			if (block_bytes[b] > 4096 && counts[c] > 8)
				continue;
			check_round_trip(counts[c], block_bytes[b], false);
			check_round_trip(counts[c], block_bytes[b], true);
		}
}

/* 1024 - 12 - 16 bytes for tags of 8 or 12 bytes: 124 or 83 to a descriptor. */
static void many_images_take_several_descriptors(void **state _unused_)
{
	assert_int_equal(check_round_trip(124, 1024, false), 1);
	assert_int_equal(check_round_trip(125, 1024, false), 2);
	assert_int_equal(check_round_trip(249, 1024, false), 3);
	assert_int_equal(check_round_trip(83, 1024, true), 1);
	assert_int_equal(check_round_trip(84, 1024, true), 2);
	assert_int_equal(check_round_trip(508, 4096, false), 1);
	assert_int_equal(check_round_trip(509, 4096, false), 2);
	assert_int_equal(check_round_trip(339, 4096, true), 1);
	assert_int_equal(check_round_trip(340, 4096, true), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_image_is_three_blocks),
		cmocka_unit_test(a_log_of_any_shape_is_read_back),
		cmocka_unit_test(many_images_take_several_descriptors),
	};

	srandom(2);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
