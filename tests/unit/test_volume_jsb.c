/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The jbd2 superblock, read, written and mistrusted. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "volume/jsb.h"

static struct journal_state sample(void)
{
	struct journal_state s = {
		.readable = true,
		.version = 2,
		.block_bytes = 4096,
		.max_blocks = 16384,
		.first = 2,
		.sequence = 0x40000001,
		.start = 77,
		.error = -5,
		.feature_compat = 0,
		.feature_incompat = JSB_INCOMPAT_REVOKE | JSB_INCOMPAT_64BIT,
		.fast_commit_blocks = 256,
		.user_count = 2,
	};

	memset(s.uuid, 0xab, sizeof(s.uuid));
	memset(s.users[0], 0x11, 16);
	memset(s.users[1], 0x22, 16);
	return s;
}

static void what_is_encoded_is_decoded_again(void **state _unused_)
{
	struct journal_state in = sample(), out;
	unsigned char bytes[JSB_BYTES], again[JSB_BYTES];

	jsb_encode(bytes, &in);
	assert_int_equal(jsb_decode(&out, bytes), 0);
	assert_true(out.readable);
	assert_int_equal(out.version, 2);
	assert_int_equal(out.max_blocks, in.max_blocks);
	assert_int_equal(out.sequence, in.sequence);
	assert_int_equal(out.start, in.start);
	assert_int_equal(out.error, in.error);
	assert_int_equal(out.user_count, in.user_count);
	assert_memory_equal(out.users, in.users, sizeof(in.users));
	jsb_encode(again, &out);
	assert_memory_equal(bytes, again, sizeof(bytes));
}

static void numbers_are_big_endian_at_their_places(void **state _unused_)
{
	struct journal_state in = sample();
	unsigned char bytes[JSB_BYTES];
	static const unsigned char head[] = { 0xc0, 0x3b, 0x39, 0x98, 0, 0, 0, 4, 0, 0, 0,
		0, 0, 0, 0x10, 0, 0, 0, 0x40, 0, 0, 0, 0, 2, 0x40, 0, 0, 1, 0, 0, 0, 77 };

	jsb_encode(bytes, &in);
	assert_memory_equal(bytes, head, sizeof(head));
	assert_int_equal(bytes[0x2b], 3);    /* incompat */
	assert_int_equal(bytes[0x30], 0xab); /* uuid */
	assert_int_equal(bytes[0x43], 2);    /* users */
	assert_int_equal(bytes[0x56], 1);    /* fast commit blocks, 256 */
	assert_int_equal(bytes[0x100], 0x11);
	assert_int_equal(bytes[0x110], 0x22);
}

static void a_checksum_is_written_only_when_features_demand_it(void **state _unused_)
{
	struct journal_state in = sample(), out;
	unsigned char bytes[JSB_BYTES];
	static const unsigned char none[4];

	jsb_encode(bytes, &in);
	assert_memory_equal(bytes + 0xfc, none, 4);
	in.feature_incompat |= JSB_INCOMPAT_CSUM_V3;
	jsb_encode(bytes, &in);
	assert_memory_not_equal(bytes + 0xfc, none, 4);
	assert_int_equal(bytes[0x50], JSB_CHECKSUM_CRC32C);
	assert_int_equal(jsb_decode(&out, bytes), 0);
	assert_true(out.checksum_expected);
	assert_true(out.checksum_valid);
}

static void a_changed_bit_makes_the_checksum_invalid(void **state _unused_)
{
	struct journal_state in = sample(), out;
	unsigned char bytes[JSB_BYTES];

	in.feature_incompat |= JSB_INCOMPAT_CSUM_V2;
	jsb_encode(bytes, &in);
	bytes[0x101] ^= 1;
	assert_int_equal(jsb_decode(&out, bytes), 0);
	assert_true(out.checksum_expected);
	assert_false(out.checksum_valid);
}

static void bytes_without_magic_are_no_journal(void **state _unused_)
{
	struct journal_state out = sample();
	unsigned char bytes[JSB_BYTES] = { 0 };

	assert_int_equal(jsb_decode(&out, bytes), -EUCLEAN);
	assert_false(out.readable);
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(jsb_decode(&out, bytes), -EUCLEAN);
}

static void a_descriptor_block_is_no_superblock(void **state _unused_)
{
	struct journal_state in = sample(), out;
	unsigned char bytes[JSB_BYTES];

	jsb_encode(bytes, &in);
	bytes[7] = JSB_DESCRIPTOR_BLOCK;
	assert_int_equal(jsb_decode(&out, bytes), -EUCLEAN);
}

static void more_users_than_fit_are_damage(void **state _unused_)
{
	struct journal_state in = sample(), out;
	unsigned char bytes[JSB_BYTES];

	in.user_count = 48;
	jsb_encode(bytes, &in);
	assert_int_equal(jsb_decode(&out, bytes), 0);
	assert_int_equal(out.user_count, 48);
	bytes[0x43] = 49;
	assert_int_equal(jsb_decode(&out, bytes), -EUCLEAN);
	assert_int_equal(out.user_count, 0);
	bytes[0x40] = 0xff;
	assert_int_equal(jsb_decode(&out, bytes), -EUCLEAN);
}

static void version_1_ends_behind_the_error(void **state _unused_)
{
	struct journal_state in = sample(), out;
	unsigned char bytes[JSB_BYTES];

	jsb_encode(bytes, &in);
	bytes[7] = JSB_SUPERBLOCK_V1;
	bytes[0x40] = 0xff;
	assert_int_equal(jsb_decode(&out, bytes), 0);
	assert_int_equal(out.version, 1);
	assert_int_equal(out.error, -5);
	assert_int_equal(out.feature_incompat, 0);
	assert_int_equal(out.user_count, 0);
	assert_false(out.checksum_expected);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_encoded_is_decoded_again),
		cmocka_unit_test(numbers_are_big_endian_at_their_places),
		cmocka_unit_test(a_checksum_is_written_only_when_features_demand_it),
		cmocka_unit_test(a_changed_bit_makes_the_checksum_invalid),
		cmocka_unit_test(bytes_without_magic_are_no_journal),
		cmocka_unit_test(a_descriptor_block_is_no_superblock),
		cmocka_unit_test(more_users_than_fit_are_damage),
		cmocka_unit_test(version_1_ends_behind_the_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
