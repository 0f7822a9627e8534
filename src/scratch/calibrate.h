/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * How long the way from the block layer to a disk model and back takes on this machine:
 * it is measured once and then taken off the charged time, so that a reader of the device
 * sees what the model charges.
 */

#include "core/err.h"
#include "scratch/model_parameters.h"

/* Measures on the device of the scratch disk and tells its model.  The counters are zero
 * afterwards.  Reads only. */
int calibrate_lead(const char *name, const char *device, const struct model_parameters *p,
	struct err *e);
