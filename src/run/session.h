/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the phases of a run share; see run.h. */

#include <jansson.h>

#include "core/strbuf.h"
#include "device/identity.h"
#include "evidence/judge.h"
#include "evidence/ledger.h"
#include "evidence/tracer.h"
#include "mount/namespace.h"
#include "plan/repeat.h"
#include "plan/state_log.h"
#include "result/bundle.h"
#include "run/effects.h"
#include "run/locks.h"
#include "run/progress.h"
#include "run/run.h"
#include "scratch/loopdisk.h"

/* A device of the plan as it was found. */
struct session_device {
	const char *spec;	      /* as the plan names it */
	const struct plan_disk *disk; /* it is a scratch disk of this run; or NULL */
	char *path;		      /* canonical; NULL until found */
	struct device_identity identity;
	bool stacked; /* made of a device of the plan, by the setup of an arm */
};

struct session_volume {
	const struct plan_volume *plan;
	struct session_device device;
	struct session_device below; /* what device is made of, in an arm with a setup
				      * that did so; path NULL: nothing */
	bool existed;		   /* it is not made by the run */
	struct placement at_start; /* where its journal was, to go back to */
	struct session_device home; /* journal device of at_start; spec NULL: none */
	char *placement; /* as text, where its journal is now; NULL: not moved */
	bool placed;	 /* there by this process, for an arm: it may stay for the same */
	char *target;	 /* mount point; NULL: none */
	char *directory; /* for the workloads, while mounted; NULL: none */
	bool mounted;
};

struct session {
	const struct run_options *o;
	const struct experiment *x;
	struct scratch_disk *disks; /* parallel to x->disks; name NULL: not there */
	bool has_new_disks; /* that this process has made: nothing is on them */
	struct session_volume *volumes;	 /* parallel to x->volumes */
	struct session_device *journals; /* parallel to x->arms; spec NULL: none */
	struct locks locks;
	char *bundle_path;
	struct bundle_writer *bundle;
	struct state_log *log;
	json_t *past; /* records of the log from earlier processes; NULL: none */
	json_t *done; /* "BLOCK/POSITION" of their finished cells; NULL: none */
	bool has_rows;	/* earlier processes have measured something */
	uint64_t spent_ns; /* in the cells that earlier processes have finished */
	bool begun;	  /* something was done that a bundle must tell of */
	json_t *environment;
	struct mount_namespace namespace;
	bool has_targets; /* directories to mount volumes on */
	struct progress progress;
	bool *warned; /* parallel to x->arms: warnings of its move were shown */
	uint64_t started_wall_ns; /* this process */
	uint64_t begun_ns;
	uint32_t blocks_done;
	struct effects past_effects; /* of earlier processes, by block and position */
	struct effects effects;	   /* from which the number of blocks follows */
	struct schedule_step step; /* blocks in all, as far as is known */
	bool audit_failed; /* syncs of some phase did not reach their device */
	bool no_trace;	   /* it is wanted, but there is none to be had; that was said */

	/* The first arm against itself; see run/calibration.h. */
	bool calibrating, calibration_failed;
	uint32_t role; /* which of the two */
	struct effects calibration;

	/* The block that is measured. */
	uint32_t block; /* number of measuring: what is repeated has another one */
	uint32_t slot;	/* number in the plan */
	struct repeat repeat;
	unsigned broken; /* enum validity_rule, or-ed, so far in this block */
	char *settings;	 /* at its start; see evidence/conditions.h */

	/* The cell that is measured. */
	uint32_t position;
	size_t arm;
	const char *workload; /* that runs; NULL: none */
	json_t *cell;
	struct ledger *ledger;
	struct surroundings *surroundings;
	struct tracer *tracer; /* NULL: none is wanted or to be had */
	struct validity *validity;
	struct evidence_arm evidence_arm;
};

/* What a bundle says of this run; in run.c. */
int run_fill_info(const struct session *s, struct bundle_info *info, struct err *e);

/* The arm that is measured. */
static inline const struct plan_arm *session_arm(const struct session *s)
{
	return &s->x->arms[s->arm];
}
