/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * What watching a volume lets one say about its journal: what it costs, what another place
 * could save at most, which size it wants, and the experiment that would show whether that
 * is so.  Every figure is measured, or a bound that holds under assumptions which are said
 * with it; there is no estimate of a gain.
 */

#include "advise/watch.h"
#include "core/strbuf.h"
#include "placement/inventory.h"

struct advice_question {
	const char *device;  /* as typed */
	const char *journal; /* device that could carry the journal, as typed; NULL: any */
	uint64_t duration_ns;
	const volatile sig_atomic_t *stop; /* or NULL */
	const struct log *log;
};

struct advice {
	struct inventory inventory;
	const struct inventory_item *volume;
	const struct inventory_item *journal; /* an external one; NULL: inline */
	char *mounted_on, *type, *options;
	char *journal_name; /* jbd2's */
	char *candidate;    /* as in advice_question; NULL */
	uint64_t journal_bytes;
	struct watch watch;

	/* Shares of the time that was watched; NAN: unknown. */
	double volume_busy;	    /* the device of the volume was at work */
	double journal_busy;	    /* the device of an external journal was */
	struct watch_bound logging; /* a commit was writing its log; equal: traced */
	struct watch_bound log_bytes;
	double log_bytes_share; /* of all bytes written to both devices, at most */

	/* What a commit that needs no time for its log would take, of what it takes now; NAN
	 * when nothing was traced or committed. */
	double commit_left;
	double speed_limit; /* whoever waits for commits all the time, at most so many times
			     * as fast; INFINITY: no limit can be told */

	uint64_t home_ns;     /* after this the kernel has written metadata home by itself */
	uint64_t size_bytes;  /* that a journal wants; 0: nothing was committed */
	bool size_is_bound;   /* no trace: from the upper bound of what was logged */
};

/*
 * Looks at the volume and watches it.  No volume, not mounted, or without a journal:
 * ERR_REFUSED with what to do.  a must be zero; to be freed also after an error.
 */
int advice_make(struct advice *a, const struct advice_question *q, struct err *e);
void advice_deinit(struct advice *a);

/* The arithmetic of advice_make() alone: watch, volume and journal_bytes are there. */
void advice_reckon(struct advice *a);

/* The experiment file; its last line has a line feed. */
void advice_experiment(const struct advice *a, struct strbuf *out);

void advice_text(const struct advice *a, struct strbuf *out);
int advice_json(const struct advice *a, struct strbuf *out, struct err *e);
