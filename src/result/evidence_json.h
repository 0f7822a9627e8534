/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Evidence as JSON and back; raw numbers, whole words. */

#include <jansson.h>

#include "core/err.h"
#include "result/evidence.h"

/* A new reference; NULL: no memory. */
json_t *evidence_to_json(const struct result_evidence *v);

/* Fills *v.  What is missing, of the wrong type or too much: -EBADMSG. */
int evidence_from_json(struct result_evidence *v, const json_t *json, struct err *e);

/* "ok", "failed", "not_applicable", ... */
const char *evidence_verdict_word(enum evidence_verdict verdict);
