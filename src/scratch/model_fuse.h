/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A modelled disk as a file, for a loop device to lie on: a FUSE file system with one file.
 */

#include "core/err.h"
#include "scratch/model_device.h"

struct model_server_options {
	const char *mountpoint; /* existing directory */
	const char *file;	/* name of the file in it */
	uint64_t size_bytes;
	struct model_device *device;
	/* Called once, when the file system is mounted; when it returns false nobody
	 * wants it any more. */
	bool (*ready)(void *data);
	void *data;
};

/* For the options of the device that is served. */
void model_fuse_answer(const struct reply *r);

/* Mounts and serves until somebody unmounts and nobody has the file open.  Returns 0
 * then; all requests are answered. */
int model_server_run(const struct model_server_options *o, struct err *e);
