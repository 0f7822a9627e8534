/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Repeating blocks; see repeat.h. */

#include "plan/repeat.h"

bool repeat_is_needed(struct repeat *r, unsigned broken, uint32_t max)
{
	unsigned reasons = broken & ~r->tolerated;

	r->always = r->attempt ? r->always & reasons : reasons;
	if (reasons && r->attempt < max) {
		r->attempt++;
		return true;
	}
	if (r->attempt)
		r->tolerated |= r->always;
	r->attempt = 0;
	return false;
}
