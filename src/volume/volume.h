/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * An ext2/3/4 volume or an external journal device, as it is on disk, read-only: what
 * `show` prints, what checks look at, and what is compared after a move.  Works on
 * mounted volumes too (then the superblock is as fresh as the kernel's last write of it).
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/err.h"

enum volume_kind { VOLUME_FILESYSTEM, VOLUME_JOURNAL_DEVICE };

enum journal_place { JOURNAL_NONE, JOURNAL_INLINE, JOURNAL_EXTERNAL };

struct block_run { /* consecutive blocks on disk */
	uint64_t first;
	uint64_t count;
};

/* The jbd2 superblock, in host order; see volume/jsb.h for the disk form. */
struct journal_state {
	bool readable;	  /* false: the rest of this structure means nothing */
	uint32_t version; /* 1 or 2 */
	uint32_t block_bytes;
	uint32_t max_blocks; /* s_maxlen */
	uint32_t first;
	uint32_t sequence;
	uint32_t start; /* 0: nothing to recover */
	int32_t error;	/* s_errno */
	uint32_t feature_compat, feature_incompat, feature_ro_compat;
	uint32_t fast_commit_blocks;
	uint8_t uuid[16];
	uint32_t user_count;
	uint8_t users[48][16];
	bool checksum_expected; /* its features say that it carries a checksum */
	bool checksum_valid;
};

struct volume_info {
	enum volume_kind kind;
	char uuid[37], label[17];
	const char *type;    /* "ext2", "ext3", "ext4", "journal": static */
	uint64_t size_bytes; /* of the file system */
	uint64_t block_count, free_blocks;
	uint32_t block_bytes;
	uint32_t first_data_block;
	uint32_t feature_compat, feature_incompat, feature_ro_compat;
	uint32_t revision; /* of the superblock; 0 knows no features */
	bool state_valid; /* cleanly unmounted */
	bool state_error; /* errors flagged by the kernel */
	bool needs_recovery;
	bool orphan_present; /* orphan_file with entries, or an orphan list */
	uint32_t last_mount_time, write_time;
	char last_mounted[65];

	enum journal_place place;
	uint32_t journal_inode;		/* 0 when there is none */
	char journal_uuid[37];		/* external: UUID that the superblock names; "" */
	uint32_t journal_device_number; /* external: s_journal_dev as on disk */
	struct journal_state journal;	/* inline, or of a journal device itself */
	struct block_run *runs;		/* inline: where it lies; owned */
	uint32_t run_count;
	char *journal_problem; /* why the journal or its description cannot be trusted, in
				* words; NULL: nothing wrong was seen; owned */
};

/*
 * Reads through the descriptor, which stays open.  Not an ext file system or journal:
 * -EMEDIUMTYPE with a text.  A corrupt superblock, or a volume larger than its device:
 * -EUCLEAN.  A journal that cannot be read or trusted is no error: journal_problem tells.
 * No field is trusted: counts and block numbers that are handed out lie within the
 * device; label and last_mounted are bytes from disk and may hold anything but NUL.
 */
int volume_info_read(struct volume_info *v, int fd, const char *name, struct err *e);
void volume_info_deinit(struct volume_info *v);

/* Has the feature that e2fsprogs calls so ("metadata_csum")?  Any of the three sets. */
bool volume_has_feature(const struct volume_info *v, const char *feature);

/* All features, as e2fsprogs calls them, space-separated; "" when there are none.  Caller
 * frees; NULL: no memory. */
char *volume_features(const struct volume_info *v);

/* The same for the features of the journal superblock. */
char *volume_journal_features(const struct volume_info *v);

/* The device number that a superblock records for its external journal, decoded. */
dev_t volume_journal_devno(const struct volume_info *v);

/* Space-separated features that the installed libext2fs does not know; NULL: none.
 * Caller frees. */
char *volume_unknown_features(const struct volume_info *v);

/* Size of the journal in blocks and bytes, 0 when unknown or none. */
uint64_t volume_journal_bytes(const struct volume_info *v);
