/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The first block of a journal device: an ext2 superblock whose only feature is
 * JOURNAL_DEV.  libext2fs makes it, on an overlay over the real device, so that it is
 * what mke2fs -O journal_dev would have made, without its minutes of zeroing.
 */

#include "volume/journal_device.h"

#include <errno.h>
#include <string.h>

#include "volume/ext2err.h"
#include "volume/overlay.h"
#include "volume/superblock.h"

static int initialize(struct overlay *o, const struct journal_device_options *q,
	struct err *e)
{
	struct ext2_super_block p = { 0 };
	ext2_filsys fs = NULL;
	errcode_t code;

	p.s_rev_level = EXT2_DYNAMIC_REV;
	p.s_feature_incompat = EXT3_FEATURE_INCOMPAT_JOURNAL_DEV;
	p.s_log_block_size = (uint32_t)__builtin_ctz(q->block_bytes / 1024);
	p.s_log_cluster_size = p.s_log_block_size;
	ext2fs_blocks_count_set(&p, q->block_count);
	code = ext2fs_initialize(overlay_io_name(o), EXT2_FLAG_64BITS, &p,
		overlay_manager(), &fs);
	if (code)
		return ext2err_set(e, code, "format journal device %s", q->name);
	memcpy(fs->super->s_uuid, q->uuid, sizeof(fs->super->s_uuid));
	strncpy((char *)fs->super->s_volume_name, q->label,
		sizeof(fs->super->s_volume_name));
	fs->super->s_state = EXT2_VALID_FS;
	ext2fs_mark_super_dirty(fs);
	code = ext2fs_flush2(fs, EXT2_FLAG_FLUSH_NO_SYNC);
	ext2fs_free(fs);
	return code ? ext2err_set(e, code, "format journal device %s", q->name) : 0;
}

int journal_device_superblock(struct superblock *out,
	const struct journal_device_options *q, struct err *e)
{
	_cleanup_(overlay_freep) struct overlay *o = NULL;
	int r = overlay_new(&o, q->fd, q->name, e);

	if (!r)
		r = initialize(o, q, e);
	if (!r)
		r = overlay_read(o, SUPERBLOCK_OFFSET_BYTES, out->bytes,
			sizeof(out->bytes), e);
	return r;
}

uint32_t journal_device_jsb_block(uint32_t block_bytes)
{
	return (uint32_t)ext2fs_journal_sb_start((int)block_bytes);
}

uint32_t journal_device_number(dev_t devno)
{
	unsigned int major_ = gnu_dev_major(devno), minor_ = gnu_dev_minor(devno);

	return (minor_ & 0xff) | major_ << 8 | (minor_ & ~0xffU) << 12;
}
