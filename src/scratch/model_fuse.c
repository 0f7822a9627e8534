/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A modelled disk as a file; see model_fuse.h.
 *
 * The disk is opened with direct I/O, so that each request of the loop device reaches us
 * as it is.  Several threads take requests from the kernel, so that they queue in the
 * model and not in front of it; answers come later, from the model's reply queue.
 */

#define FUSE_USE_VERSION 312

#include "scratch/model_fuse.h"

#include <errno.h>
#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/macros.h"
#include "core/privilege.h"

#define WORKERS 4
#define REQUEST_BYTES_MAX (1U << 20)
#define BACKGROUND_MAX 512 /* more than a loop device has in flight */
#define ATTRIBUTES_S 3600  /* nothing ever changes */

enum { INODE_DISK = FUSE_ROOT_ID + 1 };

static const struct model_server_options *options_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

void model_fuse_answer(const struct reply *r)
{
	fuse_req_t req = r->context;

	if (r->error)
		fuse_reply_err(req, r->error);
	else if (r->data)
		fuse_reply_buf(req, r->data, r->bytes);
	else if (r->bytes)
		fuse_reply_write(req, r->bytes);
	else
		fuse_reply_err(req, 0);
}

static void op_init(void *user _unused_, struct fuse_conn_info *c)
{
	c->max_write = REQUEST_BYTES_MAX;
	c->max_background = BACKGROUND_MAX;
	c->congestion_threshold = BACKGROUND_MAX;
}

static struct stat attributes_of(fuse_req_t req, fuse_ino_t inode)
{
	struct stat st = { .st_ino = inode, .st_nlink = 1, .st_blksize = 4096 };

	if (inode == FUSE_ROOT_ID) {
		st.st_mode = S_IFDIR | 0700;
		st.st_nlink = 2;
		return st;
	}
	st.st_mode = S_IFREG | 0600;
	st.st_size = (off_t)options_of(req)->size_bytes;
	st.st_blocks = st.st_size / 512;
	return st;
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param entry = { .attr_timeout = ATTRIBUTES_S,
		.entry_timeout = ATTRIBUTES_S };

	if (parent != FUSE_ROOT_ID || strcmp(name, options_of(req)->file)) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	entry.ino = INODE_DISK;
	entry.attr = attributes_of(req, entry.ino);
	fuse_reply_entry(req, &entry);
}

static void op_getattr(fuse_req_t req, fuse_ino_t inode,
	struct fuse_file_info *fi _unused_)
{
	struct stat st = attributes_of(req, inode);

	fuse_reply_attr(req, &st, ATTRIBUTES_S);
}

static void op_open(fuse_req_t req, fuse_ino_t inode _unused_, struct fuse_file_info *fi)
{
	fi->direct_io = 1;
	fuse_reply_open(req, fi);
}

static void op_read(fuse_req_t req, fuse_ino_t inode _unused_, size_t bytes, off_t offset,
	struct fuse_file_info *fi _unused_)
{
	model_device_read(options_of(req)->device, req, (uint64_t)offset, bytes);
}

static void op_write(fuse_req_t req, fuse_ino_t inode _unused_, const char *buffer,
	size_t bytes, off_t offset, struct fuse_file_info *fi _unused_)
{
	model_device_write(options_of(req)->device, req, (uint64_t)offset, buffer, bytes);
}

static void op_fsync(fuse_req_t req, fuse_ino_t inode _unused_, int data_only _unused_,
	struct fuse_file_info *fi _unused_)
{
	model_device_flush(options_of(req)->device, req);
}

/* Discards and the writing of zeroes, which a loop device sends in this form. */
static void op_fallocate(fuse_req_t req, fuse_ino_t inode _unused_, int mode,
	off_t offset, off_t bytes, struct fuse_file_info *fi _unused_)
{
	const int known = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE;

	if ((mode & ~known) || mode == FALLOC_FL_KEEP_SIZE || !mode)
		fuse_reply_err(req, EOPNOTSUPP);
	else
		model_device_punch(options_of(req)->device, req, mode, (uint64_t)offset,
			(uint64_t)bytes);
}

static const struct fuse_lowlevel_ops operations = {
	.init = op_init,
	.lookup = op_lookup,
	.getattr = op_getattr,
	.open = op_open,
	.read = op_read,
	.write = op_write,
	.fsync = op_fsync,
	.fallocate = op_fallocate,
};

/* Ends when the file system is unmounted. */
static void *work(void *session)
{
	struct fuse_buf buffer = { 0 };
	int n;

	privilege_limit(PRIVILEGE_MODEL_THREAD);
	for (;;) {
		n = fuse_session_receive_buf(session, &buffer);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			break;
		fuse_session_process_buf(session, &buffer);
	}
	free(buffer.mem);
	return NULL;
}

static int serve(struct fuse_session *session, const struct model_server_options *o,
	struct err *e)
{
	pthread_t threads[WORKERS];
	size_t started = 0;
	int r = 0;

	while (!r && started < WORKERS) {
		r = pthread_create(&threads[started], NULL, work, session);
		started += !r;
	}
	if (r || !o->ready(o->data))
		fuse_session_unmount(session);
	for (size_t i = 0; i < started; i++)
		pthread_join(threads[i], NULL);
	return r ? err_set(e, r, "start a thread of the disk model") : 0;
}

static struct fuse_session *new_session(const struct model_server_options *o)
{
	struct fuse_args arguments = FUSE_ARGS_INIT(0, NULL);
	struct fuse_session *session = NULL;
	_cleanup_free_ char *options = NULL;

	if (asprintf(&options, "fsname=%s,subtype=jbdlab", o->file) < 0)
		options = NULL;
	if (options && !fuse_opt_add_arg(&arguments, "jbdlab") &&
		!fuse_opt_add_arg(&arguments, "-o") && !fuse_opt_add_arg(&arguments, options))
		session = fuse_session_new(&arguments, &operations, sizeof(operations),
			(void *)o);
	fuse_opt_free_args(&arguments);
	return session;
}

int model_server_run(const struct model_server_options *o, struct err *e)
{
	struct fuse_session *session;
	int r;

	/* Keep freed buffers: a page fault for each page of each request costs more. */
	mallopt(M_MMAP_THRESHOLD, 64 << 20);
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	session = new_session(o);
	if (!session)
		return err_say(e, EIO, "libfuse cannot start a session");
	if (fuse_session_mount(session, o->mountpoint))
		r = err_say(e, EIO, "cannot mount the disk model on %s", o->mountpoint);
	else
		r = serve(session, o, e);
	fuse_session_unmount(session);
	model_device_drain(o->device); /* answers belong to the session */
	fuse_session_destroy(session);
	return r;
}
