/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a report shows of all that was measured, and the words of its verdicts. */

#include "report/comparison.h"
#include "report/report.h"

/* Is it what the experiment is about; is it in the text. */
bool report_is_primary(const struct report *r, const struct series *s);
bool report_is_shown(const struct report *r, const struct series *s);

extern const char *const report_verdict_words[]; /* by enum verdict */
