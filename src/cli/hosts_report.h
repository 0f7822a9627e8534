/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Bundles of many hosts, as compare and report show them. */

#include "cli/command.h"
#include "report/hosts.h"

struct hosts_request {
	const char *const *bundles;
	size_t count;
	struct hosts_options options;
	bool all;	    /* all metrics in the text */
	const char *format; /* text, json or html; NULL: text */
};

/*
 * Prints them.  Returns STATUS_DIFFERENCE when a metric of the text differs by more than
 * the margin, with Holm's adjusted p below 0.05; STATUS_DONE when all are equivalent; else
 * STATUS_INCONCLUSIVE.
 */
int hosts_report(struct cli *cli, const struct hosts_request *q, struct err *e);
