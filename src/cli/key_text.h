/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One key with what it takes, what it means and its default, in 80 columns. */

/* default_value NULL: it must be given; "": there is none to speak of. */
void key_text_print(const char *name, const char *value, const char *default_value,
	const char *help);
