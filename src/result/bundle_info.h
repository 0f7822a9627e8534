/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* bundle.json: the two directions, for the writer and the reader of bundles. */

#include <jansson.h>

#include "result/bundle.h"

/* A new reference; NULL: no memory, or a text that is not UTF-8. */
json_t *bundle_info_to_json(const struct bundle_info *info);

/* info must be zero; on error it is zero again.  -EBADMSG with the key. */
int bundle_info_from_json(struct bundle_info *info, const json_t *json, struct err *e);
