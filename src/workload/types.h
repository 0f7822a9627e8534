/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The workload types; workload.c puts them into its table. */

#include "workload/workload.h"

extern const struct workload_type workload_tiobench;
extern const struct workload_type workload_dd;
extern const struct workload_type workload_commit;
extern const struct workload_type workload_throughput;
extern const struct workload_type workload_aio;
extern const struct workload_type workload_command;
