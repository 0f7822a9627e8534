/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the programs of the crash proof share: ending with a message, and memory that does
 * not fail. They are test programs and end at the first trouble of their own; a verdict
 * about the program under test never goes this way.
 *
 * Nothing of src/ is used here: the judge must not share a mistake with the judged.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PAGE_BYTES 4096u
#define SECTOR_BYTES 512u

/* die() - print "PROGRAM: message" and exit with status 2. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...);
/* die_errno() - the same, with the text of errno. */
__attribute__((noreturn, format(printf, 1, 2))) void die_errno(const char *fmt, ...);

void *xcalloc(size_t n, size_t bytes);
void *xrealloc(void *p, size_t bytes);
/* xasprintf() - Return: an owned string. */
__attribute__((format(printf, 1, 2))) char *xasprintf(const char *fmt, ...);

/* A small seeded generator (splitmix64): the same seed gives the same sample anywhere. */
struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *rng);
/* rng_below() - Return: a number in 0..n-1; n > 0. */
uint64_t rng_below(struct rng *rng, uint64_t n);
/* hash_bytes() - Return: a 64 bit hash of data, different for every seed. */
uint64_t hash_bytes(const void *data, size_t bytes, uint64_t seed);
