/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What file systems say in the kernel's log; see kernel_log.h.
 *
 * ext4 writes "EXT4-fs (loop3): ..." and "EXT4-fs error (device loop3): ...".  Lines about
 * options ("ext4: Bad value for 'data'") and of jbd2 ("JBD2: journal checksum error") name
 * no device and are taken as well, because the interval is short.  Several mounts at once
 * may thus show each other's lines.
 */

#include "mount/kernel_log.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/kmsg.h"
#include "core/macros.h"
#include "core/strbuf.h"

#define LINES_MAX 6

int kernel_log_mark(void)
{
	return kmsg_open_end();
}

static bool is_about(const char *text, const char *kernel_name)
{
	static const char *const nameless[] = { "JBD2:", "jbd2",
		"EXT4-fs:", "ext4:", "ext3:", "ext2:" };
	char plain[300], error[300];

	if (strstr(text, "using the ext4 subsystem"))
		return false; /* said of every ext2 and ext3 */
	for (size_t i = 0; i < ARRAY_SIZE(nameless); i++)
		if (!strncmp(text, nameless[i], strlen(nameless[i])))
			return true;
	snprintf(plain, sizeof(plain), "-fs (%s):", kernel_name);
	snprintf(error, sizeof(error), "(device %s)", kernel_name);
	return strstr(text, plain) || strstr(text, error);
}

char *kernel_log_since(int mark, const char *kernel_name)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	struct kmsg_record record;
	int lines = 0;

	while (lines < LINES_MAX && kmsg_next(mark, &record))
		if (is_about(record.text, kernel_name))
			strbuf_addf(&b, "%s%s", lines++ ? "; " : "", record.text);
	return b.length ? strbuf_take(&b) : NULL;
}

/* Is the name in the text, not as a part of a longer one? */
static bool has_word(const char *text, const char *word, size_t n)
{
	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || !isalnum((unsigned char)at[-1])) &&
			!isalnum((unsigned char)at[n]))
			return true;
	return false;
}

bool kernel_log_is_error(const char *text, const char *kernel_name)
{
	static const char *const signs[] = { "I/O error", "medium error", "target error",
		"EXT4-fs error", "Aborting journal", "FAILED Result", "lost async page write",
		"lost sync page write", "timeout", "timed out", "reset", "offline" };
	char controller[64];
	bool named = has_word(text, kernel_name, strlen(kernel_name));

	/* What concerns an NVMe controller concerns its disks: "nvme0" of "nvme0n1". */
	snprintf(controller, sizeof(controller), "%.*s", !strncmp(kernel_name, "nvme", 4)
			? 4 + (int)strspn(kernel_name + 4, "0123456789") : 0,
		kernel_name);
	if (!named && *controller)
		named = has_word(text, controller, strlen(controller));
	for (size_t i = 0; named && i < ARRAY_SIZE(signs); i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

char *kernel_log_errors(int mark, const char *const *kernel_names, size_t count)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	struct kmsg_record record;
	int lines = 0;

	while (lines < LINES_MAX && kmsg_next(mark, &record))
		for (size_t i = 0; i < count; i++)
			if (kernel_log_is_error(record.text, kernel_names[i])) {
				strbuf_addf(&b, "%s%s", lines++ ? "; " : "",
					record.text);
				break;
			}
	return b.length ? strbuf_take(&b) : NULL;
}

bool kernel_log_first_errors(int mark, const char *const *kernel_names, size_t count,
	char **lines)
{
	struct kmsg_record record;
	bool any = false;

	while (kmsg_next(mark, &record))
		for (size_t i = 0; i < count; i++)
			if (!lines[i] && kernel_log_is_error(record.text, kernel_names[i])) {
				lines[i] = strdup(record.text);
				any = true;
			}
	return any;
}

bool kernel_log_tells_lack(const char *lines)
{
	static const char *const lacks[] = { "not built with CONFIG_", "without CONFIG_",
		"bad block size", "unsupported blocksize", "unsupported optional features" };

	for (size_t i = 0; i < ARRAY_SIZE(lacks); i++)
		if (strstr(lines, lacks[i]))
			return true;
	return false;
}
