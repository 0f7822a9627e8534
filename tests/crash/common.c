/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages, memory and pseudo-random numbers of the crash proof's programs.
 */
#include "common.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void complain(const char *fmt, va_list args, int code)
{
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, fmt, args);
	if (code)
		fprintf(stderr, ": %s", strerror(code));
	fputc('\n', stderr);
}

void die(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	complain(fmt, args, 0);
	va_end(args);
	exit(2);
}

void die_errno(const char *fmt, ...)
{
	int code = errno;
	va_list args;

	va_start(args, fmt);
	complain(fmt, args, code);
	va_end(args);
	exit(2);
}

void *xcalloc(size_t n, size_t bytes)
{
	void *p = calloc(n ? n : 1, bytes ? bytes : 1);

	if (!p)
		die("out of memory");
	return p;
}

void *xrealloc(void *p, size_t bytes)
{
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		die("out of memory");
	return p;
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *s = NULL;
	int r;

	va_start(args, fmt);
	r = vasprintf(&s, fmt, args);
	va_end(args);
	if (r < 0)
		die("out of memory");
	return s;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t rng_next(struct rng *rng)
{
	rng->state += 0x9e3779b97f4a7c15u;
	return mix(rng->state);
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return rng_next(rng) % n;
}

uint64_t hash_bytes(const void *data, size_t bytes, uint64_t seed)
{
	const unsigned char *p = data;
	uint64_t h = mix(seed + 0x9e3779b97f4a7c15u), word;

	for (; bytes >= sizeof(word); bytes -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		h = mix(h ^ word) + 0x9e3779b97f4a7c15u;
	}
	word = 0;
	memcpy(&word, p, bytes);
	return mix(h ^ word ^ ((uint64_t)bytes << 56));
}
