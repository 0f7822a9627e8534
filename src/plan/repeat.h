/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Is a block measured again?  An invalid one is, as a whole, up to a number of times.  A
 * rule that was broken in every one of these attempts is broken by the arm or the machine
 * itself (an arm without barriers fails every audit): that is said in the report, and from
 * then on no reason to repeat.
 */

#include <stdbool.h>
#include <stdint.h>

struct repeat {
	uint32_t attempt;   /* of the block that is measured, from 0 */
	unsigned always;    /* rules that were broken in all its attempts, or-ed */
	unsigned tolerated; /* rules that are no reason any more */
};

/* Called once after each block, with the rules that it broke, or-ed; max: how often a
 * block is repeated.  A pure function of what it was called with so far. */
bool repeat_is_needed(struct repeat *r, unsigned broken, uint32_t max);
