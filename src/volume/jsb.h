/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The jbd2 superblock: the first block of a journal, 1024 bytes, big endian.  Its
 * definition is not among the installed headers of e2fsprogs, so it stands here.
 */

#include <stdint.h>

#include "volume/volume.h"

#define JSB_BYTES 1024
#define JSB_MAGIC 0xc03b3998u
#define JSB_USERS_MAX 48

enum jsb_block_type {
	JSB_DESCRIPTOR_BLOCK = 1,
	JSB_COMMIT_BLOCK = 2,
	JSB_SUPERBLOCK_V1 = 3,
	JSB_SUPERBLOCK_V2 = 4,
	JSB_REVOKE_BLOCK = 5,
};

/* Features; those named V1 and V2 below are of the checksums, not of the superblock. */
#define JSB_COMPAT_CHECKSUM 0x01u
#define JSB_INCOMPAT_REVOKE 0x01u
#define JSB_INCOMPAT_64BIT 0x02u
#define JSB_INCOMPAT_ASYNC_COMMIT 0x04u
#define JSB_INCOMPAT_CSUM_V2 0x08u
#define JSB_INCOMPAT_CSUM_V3 0x10u
#define JSB_INCOMPAT_FAST_COMMIT 0x20u

#define JSB_CHECKSUM_CRC32C 4

/* As on disk; every number is big endian. */
struct jsb_disk {
	uint32_t magic;
	uint32_t block_type;
	uint32_t header_sequence; /* always 0 in a superblock */
	uint32_t block_bytes;
	uint32_t max_blocks;
	uint32_t first;
	uint32_t sequence;
	uint32_t start;
	uint32_t error;
	/* From here on only in version 2. */
	uint32_t feature_compat;
	uint32_t feature_incompat;
	uint32_t feature_ro_compat;
	uint8_t uuid[16];
	uint32_t user_count;
	uint32_t dynamic_super;
	uint32_t max_transaction;
	uint32_t max_transaction_data;
	uint8_t checksum_type;
	uint8_t padding_a[3];
	uint32_t fast_commit_blocks;
	uint32_t head;
	uint8_t padding_b[160];
	uint32_t checksum; /* crc32c(~0) over all 1024 bytes with this field 0 */
	uint8_t users[JSB_USERS_MAX][16];
};
_Static_assert(sizeof(struct jsb_disk) == JSB_BYTES, "layout of the journal superblock");

/*
 * Fills *out from JSB_BYTES bytes, at any alignment.  0: readable is true and every
 * count is within its bound; a wrong checksum is no failure but told by
 * checksum_expected and checksum_valid.  -EUCLEAN: no journal superblock, or one with
 * more users than fit; *out is then all zero.
 */
int jsb_decode(struct journal_state *out, const void *bytes_1024);

/* Writes JSB_BYTES bytes: a superblock of version 2 with the fields of *in, with a
 * checksum if its features demand one.  user_count is cut to JSB_USERS_MAX. */
void jsb_encode(void *bytes_1024, const struct journal_state *in);
