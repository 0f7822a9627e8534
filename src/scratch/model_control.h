/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Talking to the model of a scratch disk.  Without a record of it: -ENOENT; a model that
 * does not answer: -ETIMEDOUT, after some seconds. */

#include "core/err.h"

/* Counters and parameters as JSON text, caller frees. */
int model_control_stats(const char *name, char **text, struct err *e);

/* Says one of the MODEL_CONTROL_ words of model_device.h. */
int model_control(const char *name, const char *line, struct err *e);
