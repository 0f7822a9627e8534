/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a tracer has to know of a volume and its journal: on which disks they lie, and
 * where on them. */

#include "device/identity.h"
#include "evidence/tracer.h"

/*
 * Adds a mounted volume to the setup.  journal: the device of its external journal, NULL
 * when it has none.  The ranges are allocated and the caller's; see traced_deinit().
 * -E2BIG: too many volumes or disks.
 */
int traced_add(struct tracer_setup *setup, const struct device_identity *volume,
	const struct device_identity *journal, struct err *e);
void traced_deinit(struct tracer_setup *setup);
