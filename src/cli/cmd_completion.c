/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab completion: the script that lets a shell complete our commands, options and
 * values.  `make` writes it into the files that `make install` puts where shells look.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/completion.h"

static const struct {
	const char *name;
	void (*write)(struct strbuf *out);
} shells[] = {
	{ "bash", completion_bash },
	{ "zsh", completion_zsh },
};

static int run(struct cli *cli _unused_, struct option_parser *p, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf out = { 0 };
	const char *const *words;
	const char *value;
	size_t count;
	int r = option_next(p, &value, e);

	if (r)
		return r;
	words = option_operands(p, &count);
	for (size_t i = 0; count == 1 && i < ARRAY_SIZE(shells); i++) {
		if (strcmp(words[0], shells[i].name))
			continue;
		shells[i].write(&out);
		if (strbuf_failed(&out))
			return err_set(e, ENOMEM, "write the completion");
		fputs(strbuf_text(&out), stdout);
		return STATUS_DONE;
	}
	return err_usage(e, "completion takes the name of a shell, bash or zsh");
}

static void offer(int id, struct strbuf *words)
{
	for (size_t i = 0; !id && i < ARRAY_SIZE(shells); i++)
		strbuf_addf(words, " %s", shells[i].name);
}

const struct command command_completion = {
	.name = "completion",
	.arguments = "bash|zsh",
	.summary = "print the script that lets a shell complete all this",
	.offer = offer,
	.run = run,
};
