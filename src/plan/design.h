/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * How an experiment is designed, apart from what is compared: how many blocks, what
 * difference matters.  Keys of [experiment]; see jbdlab.ini(5).
 */

#include <stdint.h>

#include "core/err.h"
#include "core/strbuf.h"
#include "plan/schedule.h"

enum plan_calibrate { CALIBRATE_NO, CALIBRATE_WARN, CALIBRATE_YES };

struct plan_design {
	enum plan_calibrate calibrate; /* the first arm against itself, before all */
	uint32_t warmup; /* runs of a workload in a cell before the one that counts */
	double target;	     /* wanted half-width of the interval; 0: none */
	double margin;	     /* a difference of less does not matter to anybody */
	uint32_t max_blocks; /* never more, whatever the target asks for */
	uint32_t repeat; /* how often an invalid block is measured again */
	uint64_t precondition_ns; /* length of a round; 0: SSDs are taken as they are */
	int probe; /* the same short I/O of each device at the start of each block */
	int early_stop;	     /* looks in between, and an end as soon as all is decided */
};

struct experiment;

void plan_design_init(struct plan_design *d);

/* Setters for plan_keys.c; the object is a struct experiment. */
int plan_set_target(void *experiment, const char *value, struct err *e);
int plan_set_margin(void *experiment, const char *value, struct err *e);
int plan_set_max_blocks(void *experiment, const char *value, struct err *e);
int plan_set_early_stop(void *experiment, const char *value, struct err *e);

int plan_set_calibrate(void *experiment, const char *value, struct err *e);
int plan_set_warmup(void *experiment, const char *value, struct err *e);
int plan_set_probe(void *experiment, const char *value, struct err *e);
int plan_set_precondition(void *experiment, const char *value, struct err *e);
int plan_set_repeat(void *experiment, const char *value, struct err *e);

/* What contradicts itself, ERR_USAGE; *key is the key to blame. */
int plan_design_check(const struct experiment *x, const char **key, struct err *e);

/* The lines of the keys that are not at their defaults. */
void plan_design_print(const struct plan_design *d, struct strbuf *b);

/* How many blocks this makes; see schedule.h. */
struct schedule plan_schedule(const struct experiment *x);
