/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A jbd2 transaction; see transaction.h.
 *
 * A descriptor block has a 12-byte header and a tag for each image that follows it.  The
 * first tag is followed by the UUID of the journal; the others carry SAME_UUID; the last
 * one carries LAST_TAG.  An image that begins with the magic number of the log would be
 * taken for a block of the log itself, so its first four bytes are logged as zeros and
 * the tag says ESCAPE.
 */

#include "volume/transaction.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "volume/jsb.h"

enum {
	TAG_ESCAPE = 1,
	TAG_SAME_UUID = 2,
	TAG_LAST = 8,
};

struct log_header {
	uint32_t magic, type, sequence;
};

struct log_tag {
	uint32_t block;
	uint16_t checksum;
	uint16_t flags;
	uint32_t block_high; /* only in wide logs */
};

struct log_commit {
	struct log_header header;
	uint8_t checksum_type, checksum_size, padding[2];
	uint32_t checksum[8];
	uint64_t seconds;
	uint32_t nanoseconds;
};

static size_t tag_bytes(bool wide)
{
	return wide ? 12 : 8;
}

static size_t tags_per_descriptor(uint32_t block_bytes, bool wide)
{
	return (block_bytes - sizeof(struct log_header) - 16) / tag_bytes(wide);
}

size_t transaction_block_count(size_t count, uint32_t block_bytes, bool wide)
{
	size_t per = tags_per_descriptor(block_bytes, wide);

	return count + (count + per - 1) / per + 1;
}

static void put_header(uint8_t *block, uint32_t type, uint32_t sequence)
{
	struct log_header h = { htobe32(JSB_MAGIC), htobe32(type), htobe32(sequence) };

	memcpy(block, &h, sizeof(h));
}

static void put_image(uint8_t *to, const struct block_image *image, uint32_t block_bytes,
	struct log_tag *tag)
{
	uint32_t first;

	memcpy(to, image->after, block_bytes);
	memcpy(&first, to, sizeof(first));
	if (first == htobe32(JSB_MAGIC)) {
		memset(to, 0, sizeof(first));
		tag->flags |= TAG_ESCAPE;
	}
}

/* Descriptor at block 0 of `at`, followed by n images. */
static void put_descriptor(uint8_t *at, const struct transaction_options *o,
	const struct block_image *images, size_t n)
{
	uint8_t *p = at + sizeof(struct log_header);

	put_header(at, JSB_DESCRIPTOR_BLOCK, o->sequence);
	for (size_t i = 0; i < n; i++) {
		struct log_tag tag = { .block = htobe32((uint32_t)images[i].block),
			.block_high = htobe32((uint32_t)(images[i].block >> 32)),
			.flags = (uint16_t)((i ? TAG_SAME_UUID : 0) |
				(i + 1 == n ? TAG_LAST : 0)) };

		put_image(at + (i + 1) * o->block_bytes, &images[i], o->block_bytes, &tag);
		tag.flags = htobe16(tag.flags);
		memcpy(p, &tag, tag_bytes(o->wide));
		p += tag_bytes(o->wide);
		if (!i) {
			memcpy(p, o->uuid, 16);
			p += 16;
		}
	}
}

static void put_commit(uint8_t *at, const struct transaction_options *o)
{
	struct log_commit c = { .seconds = htobe64(o->commit_seconds) };

	memcpy(at, &c, sizeof(c));
	put_header(at, JSB_COMMIT_BLOCK, o->sequence);
}

int transaction_build(struct transaction *t, const struct transaction_options *o,
	const struct block_image *images, size_t count, struct err *e)
{
	size_t per = tags_per_descriptor(o->block_bytes, o->wide);
	size_t total = transaction_block_count(count, o->block_bytes, o->wide);
	uint8_t *at = calloc(total, o->block_bytes);

	if (!at)
		return err_set(e, ENOMEM, "build transaction");
	t->blocks = at;
	t->block_count = total;
	for (size_t done = 0; done < count;) {
		size_t n = MIN(per, count - done);

		put_descriptor(at, o, images + done, n);
		at += (n + 1) * o->block_bytes;
		done += n;
	}
	put_commit(at, o);
	return 0;
}

void transaction_deinit(struct transaction *t)
{
	free(t->blocks);
	*t = (struct transaction){ 0 };
}
