/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Progress and the time that is left; see progress.h. */

#include "run/progress.h"

#include <errno.h>

#include "core/macros.h"

int progress_init(struct progress *p, size_t arms, uint32_t blocks, struct err *e)
{
	*p = (struct progress){.arm_count = arms, .blocks = blocks};
	p->arms = calloc(arms, sizeof(*p->arms));
	return p->arms ? 0 : err_set(e, ENOMEM, "progress");
}

void progress_deinit(struct progress *p)
{
	free(p->arms);
	*p = (struct progress){0};
}

void progress_begin_cell(struct progress *p, uint64_t now_ns)
{
	p->cell_begun_ns = now_ns;
}

void progress_end_cell(struct progress *p, size_t arm, uint64_t now_ns)
{
	progress_add_cell(p, arm, now_ns - p->cell_begun_ns);
	p->cell_begun_ns = now_ns;
}

void progress_add_cell(struct progress *p, size_t arm, uint64_t duration_ns)
{
	p->arms[arm].total_ns += duration_ns;
	p->arms[arm].cells++;
	p->cells_done++;
}

/* An arm that was not measured yet is taken to be like the mean of the others. */
static uint64_t mean_ns(const struct progress *p, size_t arm)
{
	uint64_t total = 0;

	if (p->arms[arm].cells)
		return p->arms[arm].total_ns / p->arms[arm].cells;
	for (size_t i = 0; i < p->arm_count; i++)
		total += p->arms[i].total_ns;
	return p->cells_done ? total / p->cells_done : 0;
}

uint64_t progress_left_ns(const struct progress *p, size_t arm, uint64_t now_ns)
{
	uint64_t left = 0, spent = now_ns - p->cell_begun_ns, cell = mean_ns(p, arm);

	if (!p->cells_done)
		return UINT64_MAX;
	for (size_t i = 0; i < p->arm_count; i++)
		left += (p->blocks - MIN(p->blocks, p->arms[i].cells)) * mean_ns(p, i);
	/* A cell that takes longer than usual does not eat into the others. */
	spent = MIN(spent, cell);
	return left - MIN(left, spent);
}

uint64_t progress_block_ns(const struct progress *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < p->arm_count; i++)
		sum += mean_ns(p, i);
	return p->cells_done ? sum : UINT64_MAX;
}
