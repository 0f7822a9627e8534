/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What a modelled disk loses with its power; see model_volatile.h.
 *
 * The old pages lie at their own offsets in a sparse file in memory, and a bit for each
 * says that it is there.  A write that is under way while a flush is made may be kept by
 * it or not, as with any disk.
 */

#include "scratch/model_volatile.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/macros.h"

#define PAGE_BYTES UINT64_C(4096)

struct model_volatile {
	pthread_mutex_t lock;
	int data_fd, old_fd;
	uint64_t size_bytes, pages, kept_pages;
	unsigned char *kept; /* a bit for each page */
};

int model_volatile_new(struct model_volatile **out, int data_fd, uint64_t size_bytes,
	struct err *e)
{
	_cleanup_(model_volatile_freep) struct model_volatile *v = calloc(1, sizeof(*v));

	if (!v)
		return err_set(e, ENOMEM, "remember what is not flushed");
	pthread_mutex_init(&v->lock, NULL);
	v->data_fd = data_fd;
	v->size_bytes = size_bytes;
	v->pages = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	v->kept = calloc(1, v->pages / 8 + 1);
	v->old_fd = memfd_create("jbdlab-unflushed", MFD_CLOEXEC);
	if (!v->kept || v->old_fd < 0 || ftruncate(v->old_fd, (off_t)size_bytes))
		return err_set(e, v->kept ? errno : ENOMEM, "remember what is not flushed");
	*out = take_ptr(v);
	return 0;
}

struct model_volatile *model_volatile_free(struct model_volatile *v)
{
	if (!v)
		return NULL;
	closep(&v->old_fd);
	free(v->kept);
	pthread_mutex_destroy(&v->lock);
	free(v);
	return NULL;
}

static bool is_kept(const struct model_volatile *v, uint64_t page)
{
	return v->kept[page / 8] & (1 << page % 8);
}

/* One page from one file to the other; 0 or a positive errno. */
static int copy(const struct model_volatile *v, int to, int from, uint64_t page)
{
	_cleanup_(err_clear) struct err e = { 0 };
	char buffer[PAGE_BYTES];
	off_t at = (off_t)(page * PAGE_BYTES);
	size_t n = (size_t)MIN(PAGE_BYTES, v->size_bytes - page * PAGE_BYTES);

	if (!fileio_pread_full(from, buffer, n, at, "", &e))
		fileio_pwrite_full(to, buffer, n, at, "", &e);
	return e.code;
}

int model_volatile_keep(struct model_volatile *v, uint64_t offset, uint64_t bytes)
{
	uint64_t end = MIN((offset + bytes + PAGE_BYTES - 1) / PAGE_BYTES, v->pages);
	int r = 0;

	pthread_mutex_lock(&v->lock);
	for (uint64_t page = offset / PAGE_BYTES; page < end; page++) {
		if (is_kept(v, page))
			continue;
		r = copy(v, v->old_fd, v->data_fd, page);
		if (r)
			break;
		v->kept[page / 8] |= (unsigned char)(1 << page % 8);
		v->kept_pages++;
	}
	pthread_mutex_unlock(&v->lock);
	return r;
}

/* With the lock held.  The memory is given back. */
static void forget(struct model_volatile *v)
{
	if (!v->kept_pages)
		return;
	v->kept_pages = 0;
	memset(v->kept, 0, v->pages / 8 + 1);
	if (ftruncate(v->old_fd, 0) || ftruncate(v->old_fd, (off_t)v->size_bytes))
		return; /* what stays there is written over before it is used */
}

void model_volatile_flush(struct model_volatile *v)
{
	pthread_mutex_lock(&v->lock);
	forget(v);
	pthread_mutex_unlock(&v->lock);
}

uint64_t model_volatile_lose(struct model_volatile *v)
{
	uint64_t lost = 0;

	pthread_mutex_lock(&v->lock);
	for (uint64_t page = 0; page < v->pages; page++)
		if (is_kept(v, page) && !copy(v, v->data_fd, v->old_fd, page))
			lost += PAGE_BYTES;
	forget(v);
	pthread_mutex_unlock(&v->lock);
	return lost;
}
