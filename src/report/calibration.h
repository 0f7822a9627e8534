/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the calibration of a bundle showed: the first arm against itself. */

#include "report/report.h"

/* Keeps the primary metric of a run of the calibration.  -ENOMEM. */
int calibration_take_run(struct report *r, const struct result_run *run, struct err *e);

/* A sentence below the results, if there was a calibration.  -ENOMEM. */
int calibration_remark(struct report *r, struct err *e);
