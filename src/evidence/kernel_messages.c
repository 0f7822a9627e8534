/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Messages of the kernel for the record; see kernel_messages.h. */

#include "evidence/kernel_messages.h"

#include <string.h>

#include "core/kmsg.h"
#include "core/macros.h"

enum { LINES_MAX = 100 };

/* The caches are dropped for every phase, and the kernel says so each time. */
static bool is_our_own(const char *text)
{
	return !strncmp(text, "jbdlab (", 8) && strstr(text, ": drop_caches:");
}

json_t *kernel_messages_since(int mark)
{
	json_auto_t *lines = json_array();
	struct kmsg_record record;
	json_int_t more = 0;

	if (mark < 0)
		return json_null();
	while (kmsg_next(mark, &record)) {
		if (is_our_own(record.text))
			continue;
		if (json_array_size(lines) == LINES_MAX) {
			more++;
			continue;
		}
		/* Bytes that are no UTF-8 give no string: the record is counted. */
		if (json_array_append_new(lines,
			    json_pack("{si,ss}", "level", (int)record.level, "text",
				    record.text)))
			more++;
	}
	return lines ? json_pack("{sO,sI}", "lines", lines, "more", more) : NULL;
}
