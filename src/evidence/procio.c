/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Our own I/O account; see procio.h. */

#include "evidence/procio.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "core/fileio.h"

int procio_parse(struct procio *p, const char *text)
{
	struct procio r;

	if (sscanf(text,
		    "rchar: %" SCNu64 " wchar: %" SCNu64 " syscr: %" SCNu64 " syscw: %" SCNu64
		    " read_bytes: %" SCNu64 " write_bytes: %" SCNu64
		    " cancelled_write_bytes: %" SCNu64,
		    &r.read_bytes, &r.write_bytes, &r.read_calls, &r.write_calls,
		    &r.device_read_bytes, &r.dirtied_bytes, &r.cancelled_bytes) != 7)
		return -EBADMSG;
	*p = r;
	return 0;
}

int procio_read(struct procio *p)
{
	_cleanup_free_ char *text = NULL;

	if (fileio_read("/proc/self/io", &text, NULL, NULL))
		return -ENOENT;
	return procio_parse(p, text);
}
