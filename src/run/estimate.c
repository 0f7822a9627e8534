/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a run will do; see estimate.h. */

#include "run/estimate.h"

#include "core/clock.h"

void estimate_run(const struct experiment *x, struct estimate *out)
{
	double seconds, cell_ns = (double)ESTIMATE_CELL_NS;

	*out = (struct estimate){.cells = x->blocks * (uint32_t)x->arm_count};
	for (size_t i = 0; i < x->workload_count; i++) {
		uint64_t space = workload_space(x->workloads[i].workload);

		out->cell_bytes += x->workloads[i].repeat *
			workload_bytes(x->workloads[i].workload);
		out->space_bytes = MAX(out->space_bytes, space);
		cell_ns += x->workloads[i].repeat *
			(double)workload_duration_ns(x->workloads[i].workload);
	}
	out->bytes = out->cell_bytes * out->cells;
	seconds = (double)out->bytes / (double)ESTIMATE_BYTES_PER_SECOND +
		  (double)out->cells * cell_ns / NS_PER_S;
	out->time_ns = (uint64_t)(seconds * NS_PER_S);
}
