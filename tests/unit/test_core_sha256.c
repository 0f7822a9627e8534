/* SPDX-License-Identifier: GPL-3.0-or-later */

/* SHA-256 against the vectors of FIPS 180-4 and the lengths around a block's end. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/sha256.h"

static void expect(const char *text, size_t n, const char *hash)
{
	char out[SHA256_TEXT];

	sha256_hex(text, n, out);
	assert_string_equal(out, hash);
}

static void published_vectors(void **state)
{
	(void)state;
	expect("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	expect("abc", 3,
		"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void a_million_letters(void **state)
{
	char *text = malloc(1000000);

	(void)state;
	assert_non_null(text);
	memset(text, 'a', 1000000);
	expect(text, 1000000,
		"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
	free(text);
}

/* Figures of sha256sum(1) for n letters "x". */
static void lengths_around_the_end_of_a_block(void **state)
{
	char text[130];

	(void)state;
	memset(text, 'x', sizeof(text));
	expect(text, 55,
		"d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
	expect(text, 56,
		"04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
	expect(text, 63,
		"75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
	expect(text, 64,
		"7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
	expect(text, 65,
		"9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
	expect(text, 119,
		"000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
	expect(text, 120,
		"13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_vectors),
		cmocka_unit_test(a_million_letters),
		cmocka_unit_test(lengths_around_the_end_of_a_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
