/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Reading the kernel's log; see kmsg.h. */

#include "core/kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/macros.h"

/* A record is at most 8 KiB; a buffer that is too small gives EINVAL. */
#define RECORD_BYTES 8192

int kmsg_open_end(void)
{
	_cleanup_close_ int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		return -1;
	return take_fd(fd);
}

bool kmsg_parse(struct kmsg_record *record, const char *text)
{
	const char *semicolon = strchr(text, ';');
	unsigned priority;
	uint64_t time_us;

	if (!semicolon ||
		sscanf(text, "%u,%*[0-9],%" SCNu64 ",", &priority, &time_us) != 2)
		return false;
	record->level = priority & 7; /* the rest is the facility */
	record->time_us = time_us;
	snprintf(record->text, sizeof(record->text), "%.*s",
		(int)strcspn(semicolon + 1, "\n"), semicolon + 1);
	return true;
}

bool kmsg_next(int fd, struct kmsg_record *record)
{
	char text[RECORD_BYTES + 1];

	while (fd >= 0) {
		ssize_t n = read(fd, text, RECORD_BYTES);

		if (n < 0 && (errno == EPIPE || errno == EINTR))
			continue; /* records were overwritten: go on with the next */
		if (n <= 0)
			return false;
		text[n] = '\0';
		if (kmsg_parse(record, text))
			return true;
	}
	return false;
}
