/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The same experiment on many hosts.  A host is a block: arms are compared within it, over
 * its own blocks of the experiment, and what stands for the host is one number, the
 * estimate of the log ratio of two arms.  Over hosts these are analysed as blocks are within
 * one: Hodges and Lehmann's estimate, with the interval of the exact signed-rank test.  So
 * a fast host counts as much as a slow one, and a host with many blocks as one with few.
 *
 * A host whose bundle cannot be read, or has no pair of arms, is listed and takes no part;
 * one that did not come to its end takes part with the blocks that it has.
 */

#include <stdbool.h>
#include <stddef.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "result/bundle.h"
#include "stats/verdict.h"

enum host_state { HOST_COMPLETE, HOST_INCOMPLETE, HOST_FAILED };

struct host {
	char *name;	/* as the machine called itself, or the bundle's directory */
	char **bundles; /* paths */
	size_t bundle_count;
	enum host_state state; /* the worst of its bundles */
	char *reason;	       /* what is the matter; NULL with HOST_COMPLETE */
	size_t used;	       /* bundles that take part */
};

struct host_value {
	size_t host;
	double log_ratio; /* mean over the bundles of the host */
	size_t bundles;
};

struct hosts_row {
	char *workload, *phase, *metric;
	enum result_unit unit;
	enum result_direction direction;
	size_t arm;	/* in struct hosts */
	bool shown;	/* in the text without --all */
	bool too_short; /* a phase of less than 200 ms, on any host */
	struct host_value *values;
	size_t count;
	struct contrast contrast; /* over the hosts */
	double p_holm;
	double spread;	     /* exp of the standard deviation of the log ratios between
			      * hosts: 1.1 is 10 %; NAN for fewer than two */
	size_t least, most; /* index in values of the lowest and highest ratio */
};

struct hosts {
	struct host *hosts;
	size_t host_count;
	struct bundle_info *info; /* of the first bundle that could be read: arms, design */
	size_t baseline;	  /* of its arms */
	struct hosts_row *rows;
	size_t row_count;
	void *index; /* tsearch(3) */
	char *primary;
};

struct hosts_options {
	const char *baseline; /* arm; NULL: the first */
	const char *arm;      /* only this one; NULL: all */
};

/* Reads all bundles.  None that can be compared, or an arm that none has: ERR_USAGE with
 * the reason of the first.  h must be zero; it is to be freed also after an error. */
int hosts_load(struct hosts *h, const char *const *paths, size_t count,
	const struct hosts_options *o, struct err *e);
void hosts_deinit(struct hosts *h);

/* How many take part in a comparison; how many do not or only in part. */
size_t hosts_used(const struct hosts *h);
size_t hosts_troubled(const struct hosts *h);

const char *host_state_word(enum host_state state); /* "complete" */
const char *hosts_verdict_word(const struct hosts_row *row); /* "better", "~", ... */

/* Text in 80 columns; all: also metrics that are not shown.  JSON; a page. */
int render_hosts(const struct hosts *h, bool all, struct strbuf *out, struct err *e);
int render_hosts_json(const struct hosts *h, struct strbuf *out, struct err *e);
int render_hosts_html(const struct hosts *h, struct strbuf *out, struct err *e);
