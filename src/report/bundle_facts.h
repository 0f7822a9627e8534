/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The facts that the checks of confounds.h look at, taken from a bundle and its runs. */

#include "report/confounds.h"
#include "report/report.h"

/* Texts in f live as long as the report; the arrays are freed by bundle_facts_deinit(). */
int bundle_facts_read(struct confound_facts *f, struct report *r, struct err *e);
void bundle_facts_deinit(struct confound_facts *f);
