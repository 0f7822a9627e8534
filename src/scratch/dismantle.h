/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Taking a scratch disk apart, whatever there is of it.  Under the lock of all disks. */

#include "core/err.h"
#include "scratch/state.h"

/* A disk in use: ERR_REFUSED with the name of the user, and all is as it was. */
int dismantle(const struct scratch_state *s, struct err *e);

/* The same without the data file and the record: it can be put together again. */
int dismantle_keep(const struct scratch_state *s, struct err *e);

/* Without a readable record: what can be found by the name; the data file cannot. */
int dismantle_damaged(const char *name, struct err *e);

/* The loop devices of a scratch disk; free with loopdev_list_free(). */
int dismantle_find(char ***devices, size_t *count, const struct scratch_state *s,
	struct err *e);
