/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The table of formats; see formats.h. */

#include "import/formats.h"

#include <stddef.h>

#define ADDRESS(NAME) &import_##NAME,

const struct import_format *const import_formats[] = {IMPORT_FORMATS(ADDRESS) NULL};
