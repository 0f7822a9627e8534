/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The short form of fuzzing, for compilers without libFuzzer: fuzz_NAME SECONDS FILE...
 * runs the target on each file, then on the files with random changes until the time is
 * over.  The changes are the same in each run.
 */

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/fileio.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static uint64_t state = 1;

static size_t below(size_t n)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return n ? (size_t)(state >> 33) % n : 0;
}

/* A few bytes are changed, doubled, cut out, or replaced by something that hurts. */
static size_t change(char *to, const char *from, size_t n)
{
	static const char *const words[] = {"-1", "######", "%", "\n", "\r", "=3D", "0",
		"99999999999999999999", "nan", "1e308", "|", ",", ":", " ", "> ", "null", "{"};
	size_t at = below(n + 1), count = 1 + below(8);

	if (n > PTRDIFF_MAX) /* never; the compiler cannot know */
		abort();
	memcpy(to, from, n);
	if (below(3) == 0 && at + count <= n) {
		memmove(to + at, to + at + count, n - at - count);
		return n - count;
	}
	if (below(2) && at < n) {
		to[at] = (char)below(256);
		return n;
	}
	count = below(sizeof(words) / sizeof(*words));
	memmove(to + at + strlen(words[count]), to + at, n - at);
	memcpy(to + at, words[count], strlen(words[count]));
	return n + strlen(words[count]);
}

static void run_on_changed(const char *text, size_t n, unsigned changes)
{
	char *a = malloc(n + 32 * (changes + 1)), *b = malloc(n + 32 * (changes + 1));

	if (!a || !b)
		abort();
	memcpy(a, text, n);
	while (changes--) {
		char *swap = a;

		n = change(b, a, n);
		a = b;
		b = swap;
	}
	LLVMFuzzerTestOneInput((const uint8_t *)a, n);
	free(a);
	free(b);
}

int main(int argc, char **argv)
{
	uint64_t end;
	size_t count = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: fuzz_NAME SECONDS FILE...\n");
		return 2;
	}
	LLVMFuzzerInitialize(&argc, &argv);
	end = clock_now_ns() + (uint64_t)(atof(argv[1]) * NS_PER_S);
	for (int i = 2; i < argc || clock_now_ns() < end; i++, count++) {
		struct err e = {0};
		char *text;
		size_t n;

		if (fileio_read(argv[2 + (i - 2) % (argc - 2)], &text, &n, &e)) {
			fprintf(stderr, "fuzz: %s\n", err_message(&e));
			return 1;
		}
		if (i < argc)
			LLVMFuzzerTestOneInput((const uint8_t *)text, n);
		else
			run_on_changed(text, n, (unsigned)(1 + below(12)));
		free(text);
	}
	printf("%s: %zu inputs\n", argv[0], count);
	return 0;
}
