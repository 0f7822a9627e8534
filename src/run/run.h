/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Running an experiment: disks are made, volumes are made, and then for every block each
 * arm in random order: place the journal, check the volume, mount, measure, unmount.
 * Everything that was measured is in the bundle as soon as it is measured.
 */

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/err.h"
#include "core/log.h"
#include "plan/experiment.h"

enum run_mode {
	RUN_NEW,
	RUN_RESUME,  /* go on at the first cell that is not finished */
	RUN_RESTORE, /* every volume back to the placement that it had */
};

/* Is told where the run is; the status (see status.h) stays the caller's. */
struct run_observer {
	void *data;
	/* bundle: its path, as soon as it is there to stay; NULL before.  The step may show
	 * no sign of life for expected_ns beside what is allowed anyway. */
	void (*step)(void *data, const char *bundle, json_t *status, uint64_t expected_ns);
};

struct run_options {
	enum run_mode mode;
	const struct experiment *experiment; /* with a seed; that of the bundle */
	/* Directory of the bundle; RUN_NEW: it must not exist, NULL: NAME-DATE here. */
	const char *output;
	pid_t process; /* that scratch disks are named after */
	const char *version; /* of the program */
	bool keep;	     /* scratch disks of the run stay */
	const volatile sig_atomic_t *stop;
	volatile sig_atomic_t *question; /* for run_supervised(); NULL: nobody asks */
	const struct run_observer *observer; /* NULL: nobody */
	const struct log *log;
};

struct run_outcome {
	char *bundle; /* path; NULL when it was not made */
	bool audit_failed; /* syncs of some phase did not reach their device */
	bool inconclusive; /* the calibration failed, nothing was measured */
};

/* "NAME-DATE": where a bundle goes that was not given a path.  NULL: no memory. */
char *run_default_output(const struct experiment *x, uint64_t wall_ns);

/*
 * Whatever ends the process, the state log in the bundle tells what was begun, and another
 * process can go on or take it back.
 *
 * Returns when everything is put back: volumes are unmounted and consistent, scratch
 * disks destroyed.  Interrupted: ERR_INTERRUPTED.  A device that may not be written:
 * ERR_REFUSED, before anything was.  outcome is filled on errors, too.
 */
int run_experiment(
	const struct run_options *o, struct run_outcome *outcome, struct err *e);
void run_outcome_deinit(struct run_outcome *outcome);
