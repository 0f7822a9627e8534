/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbd2's account; see jbd2.h. */

#include "evidence/jbd2.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "core/fileio.h"

static void parse_line(struct jbd2_info *info, const char *line)
{
	static const struct {
		const char *words;
		size_t offset;
	} known[] = {
		{ "us average transaction commit time", offsetof(struct jbd2_info, commit_us) },
		{ " handles per transaction", offsetof(struct jbd2_info, handles) },
		{ " blocks per transaction", offsetof(struct jbd2_info, blocks) },
		{ " logged blocks per transaction",
			offsetof(struct jbd2_info, logged_blocks) },
		{ "ms waiting for transaction", offsetof(struct jbd2_info, wait_ms) },
		{ "ms running transaction", offsetof(struct jbd2_info, running_ms) },
		{ "ms transaction was being locked", offsetof(struct jbd2_info, locked_ms) },
		{ "ms flushing data", offsetof(struct jbd2_info, flushing_ms) },
		{ "ms logging transaction", offsetof(struct jbd2_info, logging_ms) },
	};
	uint64_t value;
	int n = 0;

	if (sscanf(line, "%" SCNu64 "%n", &value, &n) != 1)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strncmp(line + n, known[i].words, strlen(known[i].words)))
			memcpy((char *)info + known[i].offset, &value, sizeof(value));
}

int jbd2_parse(struct jbd2_info *info, const char *text)
{
	struct jbd2_info result = { 0 };

	if (sscanf(text, "%" SCNu64 " transactions (%" SCNu64 " requested)",
		    &result.transactions, &result.requested) != 2)
		return -EBADMSG;
	while ((text = strchr(text, '\n'))) {
		text += strspn(text, "\n ");
		parse_line(&result, text);
	}
	*info = result;
	return 0;
}

int jbd2_read(struct jbd2_info *info, const char *name)
{
	_cleanup_free_ char *path = NULL, *text = NULL;

	if (asprintf(&path, "/proc/fs/jbd2/%s/info", name) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	if (fileio_read(path, &text, NULL, NULL))
		return -ENOENT;
	return jbd2_parse(info, text);
}

char *jbd2_name(const char *kernel_name, uint32_t inode)
{
	char *name = NULL;
	int n = inode ? asprintf(&name, "%s-%" PRIu32, kernel_name, inode)
		      : asprintf(&name, "%s", kernel_name);

	if (n < 0)
		return NULL;
	for (char *p = name; *p; p++)
		if (*p == '/')
			*p = '!';
	return name;
}
