/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of formats; see formats.h. */

#include "report/formats.h"

#include <string.h>

#define ADDRESS(NAME) &report_format_##NAME,

const struct report_format *const report_formats[] = {REPORT_FORMATS(ADDRESS) NULL};

const struct report_format *report_find_format(const char *name)
{
	for (size_t i = 0; report_formats[i]; i++)
		if (!strcmp(report_formats[i]->name, name))
			return report_formats[i];
	return NULL;
}
