/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Keys of experiment files and workloads as text; see key_text.h. */

#include "cli/key_text.h"

#include <stdio.h>
#include <string.h>

#include "core/wrap.h"

enum { LEFT = 30, INDENT = 34 };

void key_text_print(const char *name, const char *value, const char *default_value,
	const char *help)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0}, meaning = {0};
	char left[80];

	snprintf(left, sizeof(left), "%s = %s", name, value);
	if (strlen(left) > LEFT)
		strbuf_addf(&b, "  %s\n%*s", left, INDENT, "");
	else
		strbuf_addf(&b, "  %-*s", INDENT - 2, left);
	strbuf_add(&meaning, help);
	if (!default_value)
		strbuf_add(&meaning, " (needed)");
	else if (*default_value)
		strbuf_addf(&meaning, " (default: %s)", default_value);
	wrap_text(&b, strbuf_text(&meaning), INDENT, INDENT);
	fputs(strbuf_text(&b), stdout);
}
