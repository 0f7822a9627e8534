/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A model's parameters and counters as JSON, raw numbers in base units. */

#include <jansson.h>

#include "scratch/model.h"
#include "scratch/model_faults.h"

#define MODEL_STATS_SCHEMA "jbdlab-disk-stats/1"

/* Objects are the caller's; NULL when memory is out. */
json_t *model_parameters_json(const struct model_parameters *p);
json_t *model_stats_json(const struct model_stats *s);
json_t *model_faults_json(const struct model_faults *f); /* what it did, not its parameters */
