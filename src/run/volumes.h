/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The volumes of a run: making them, placing their journals, checking them.  A volume
 * that the plan makes is left in its last placement; one that existed before gets back
 * the placement that it had.
 */

#include "run/session.h"

/* Phases of the run; the context is a struct session. */
int volumes_recall(void *session, struct err *e); /* where journals were at the start */
int volumes_look_at(void *session, struct err *e); /* those that exist */
int volumes_prepare(void *session, struct err *e);
int volumes_put_back(void *session, struct err *e);
int volumes_enter_namespace(void *session, struct err *e);
int volumes_leave_namespace(void *session, struct err *e);
int volumes_make_targets(void *session, struct err *e);
int volumes_remove_targets(void *session, struct err *e);

/*
 * After an earlier process was killed: what it has left in the volumes goes, interrupted
 * moves are settled, logs replayed.  Needs mount points and volumes_recall().
 */
int volumes_clean(void *session, struct err *e);
int volumes_check_all(void *session, struct err *e); /* e2fsck -fn on each */

/* Phases of a cell. */
int volumes_remake(void *session, struct err *e); /* with prepare = mkfs */
int volumes_place(void *session, struct err *e);
int volumes_fsck(void *session, struct err *e);
int volumes_mount(void *session, struct err *e);
int volumes_unmount(void *session, struct err *e);
/* Name of a volume's journal below /proc/fs/jbd2 in this arm; caller frees. */
char *volumes_jbd2_name(const struct session *s, size_t volume);
int volumes_verify(void *session, struct err *e); /* the journal is where it should be */
