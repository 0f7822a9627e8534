/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

#include "core/strbuf.h"

/* Appends text so that HTML and XML take it for nothing but text, also between quotes.  What
 * XML forbids, control characters, becomes U+FFFD. */
void xml_add(struct strbuf *out, const char *text);
