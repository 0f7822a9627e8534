/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads a log of the recorder into memory. The file is mapped, the data of the writes
 * stay in it.
 */
#include "tracelog.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(struct trace *t, const struct trace_record *r, const uint8_t *data)
{
	if (r->op == TRACE_OTHER)
		die("the recorded program did what cannot be replayed");
	if (r->device >= TRACE_DEVICES_MAX)
		die("the trace is damaged");
	t->op = xrealloc(t->op, (t->n + 1) * sizeof(*t->op));
	t->op[t->n++] = (struct traced_op){
		.kind = (enum trace_op)r->op,
		.device = r->device,
		.number = r->number,
		.offset = r->offset,
		.bytes = r->bytes,
		.data = data,
	};
}

void trace_load(struct trace *t, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const uint8_t *file, *at, *end;
	struct stat st;

	*t = (struct trace){0};
	if (fd < 0 || fstat(fd, &st))
		die_errno("open %s", path);
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED || st.st_size < TRACE_HEADER_BYTES)
		die("%s is not a trace", path);
	close(fd);
	t->header = (const struct trace_header *)(const void *)file;
	end = file + st.st_size;
	for (at = file + TRACE_HEADER_BYTES; at < end;) {
		struct trace_record r;

		if ((size_t)(end - at) < sizeof(r))
			die("%s ends within a record", path);
		__builtin_memcpy(&r, at, sizeof(r));
		at += sizeof(r);
		if (r.magic != TRACE_MAGIC || (uint64_t)(end - at) < r.data_bytes)
			die("%s is damaged", path);
		if (r.op != TRACE_FAULT)
			add(t, &r, r.data_bytes ? at : NULL);
		at += r.data_bytes;
	}
}
