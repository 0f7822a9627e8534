/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The table of workload types. */

#include "workload/workload.h"

/* In the order of the manual: "ROW(name)" for workload_name, which the file name.c exports. */
#define WORKLOAD_TYPES(ROW) \
	ROW(tiobench) \
	ROW(dd) \
	ROW(commit) \
	ROW(throughput) \
	ROW(aio) \
	ROW(command)

#define WORKLOAD_DECLARE(NAME) extern const struct workload_type workload_##NAME;
WORKLOAD_TYPES(WORKLOAD_DECLARE)
#undef WORKLOAD_DECLARE
