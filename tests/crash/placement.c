/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The few fields of the superblock and of the journal's superblock that say where a
 * journal is, at their offsets on disk: independent of every library.
 */
#include "placement.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SUPER_OFFSET 1024
#define SUPER_BYTES 1024
#define S_LOG_BLOCK_SIZE 0x18
#define S_MAGIC 0x38
#define S_FEATURE_COMPAT 0x5c
#define S_FEATURE_INCOMPAT 0x60
#define S_UUID 0x68
#define S_JOURNAL_UUID 0xd0
#define S_JOURNAL_INUM 0xe0
#define S_INODE_SIZE 0x58
#define S_ERROR_COUNT 0x194
#define BG_INODE_TABLE 8
#define I_SIZE 4
#define MAGIC 0xef53u
#define COMPAT_HAS_JOURNAL 0x4u
#define INCOMPAT_JOURNAL_DEV 0x8u
#define JSB_NR_USERS 0x40

static uint32_t le(const uint8_t *p, int bytes)
{
	uint32_t v = 0;

	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

static bool read_super(int fd, uint8_t *super)
{
	memset(super, 0, SUPER_BYTES);
	return pread(fd, super, SUPER_BYTES, SUPER_OFFSET) == SUPER_BYTES &&
	       le(super + S_MAGIC, 2) == MAGIC;
}

/* Return: the number of users in the journal's superblock, or -1. */
static int64_t count_users(int fd)
{
	uint8_t super[SUPER_BYTES], jsb[SUPER_BYTES];
	uint32_t block;

	if (!read_super(fd, super) ||
		!(le(super + S_FEATURE_INCOMPAT, 4) & INCOMPAT_JOURNAL_DEV))
		return -1;
	block = 1024u << (le(super + S_LOG_BLOCK_SIZE, 4) & 31);
	/* The block after the one with the superblock. */
	if (pread(fd, jsb, sizeof(jsb), block == 1024 ? 2048 : block) !=
			(ssize_t)sizeof(jsb) ||
		memcmp(jsb, "\xc0\x3b\x39\x98", 4))
		return -1;
	return (int64_t)jsb[JSB_NR_USERS] << 24 | jsb[JSB_NR_USERS + 1] << 16 |
	       jsb[JSB_NR_USERS + 2] << 8 | jsb[JSB_NR_USERS + 3];
}

/*
 * Return: the size of the journal's inode, in the first group's inode table (which is a
 * better witness than the copy in the superblock, s_jnl_blocks).
 */
static uint32_t inode_bytes(int fd, const uint8_t *super)
{
	uint32_t block = 1024u << (le(super + S_LOG_BLOCK_SIZE, 4) & 31);
	uint32_t number = le(super + S_JOURNAL_INUM, 4);
	uint8_t field[4];
	uint64_t table;

	if (pread(fd, field, 4, (block == 1024 ? 2048 : block) + BG_INODE_TABLE) != 4)
		return 0;
	table = (uint64_t)le(field, 4) * block;
	if (pread(fd, field, 4,
		    (off_t)(table + (number - 1) * le(super + S_INODE_SIZE, 2) +
			    I_SIZE)) != 4)
		return 0;
	return le(field, 4);
}

static int find_device(const uint8_t *uuid, const int *fd, unsigned int n)
{
	uint8_t super[SUPER_BYTES];

	for (unsigned int i = 1; i < n; i++)
		if (read_super(fd[i], super) && !memcmp(super + S_UUID, uuid, 16))
			return (int)i;
	return -1;
}

void placement_read(
	struct placement *p, const int *fd, const char *const *names, unsigned int n)
{
	static const uint8_t no_uuid[16];
	uint8_t super[SUPER_BYTES];
	size_t used = 0;

	*p = (struct placement){.text = "none", .device = -1};
	for (unsigned int i = 1; i < n && used < sizeof(p->users); i++)
		used += (size_t)snprintf(p->users + used, sizeof(p->users) - used,
			"%s%s users %lld", i > 1 ? ", " : "", names[i],
			(long long)count_users(fd[i]));
	if (!read_super(fd[0], super))
		return;
	p->errors = le(super + S_ERROR_COUNT, 4);
	if (!(le(super + S_FEATURE_COMPAT, 4) & COMPAT_HAS_JOURNAL))
		return;
	if (memcmp(super + S_JOURNAL_UUID, no_uuid, 16)) {
		p->device = find_device(super + S_JOURNAL_UUID, fd, n);
		snprintf(p->text, sizeof(p->text), "%s%s",
			p->device < 0 ? "other" : names[p->device],
			le(super + S_JOURNAL_INUM, 4) ? " and inline" : "");
	} else {
		snprintf(
			p->text, sizeof(p->text), "inline %u", inode_bytes(fd[0], super));
	}
}
