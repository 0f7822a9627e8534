/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * A volume whose journal device is gone for good.  Whatever was only in that journal is
 * lost; what is left is made consistent by a full e2fsck.  Only on explicit request.
 */

#include "core/log.h"
#include "placement/subject.h"

/* Makes the volume forget its journal, marks it "not clean" and runs e2fsck -fy on it; the
 * claims of s are released.  Afterwards the volume has no journal. */
int lost_journal_give_up(struct subject *s, const struct log *log, struct err *e);
