/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Features of the volumes that are part of an arm: fast_commit.  Only volumes that the
 * run has made are touched; the plan is checked for that. */

#include "run/session.h"

/* Phase of a cell; the context is a struct session. */
int features_switch(void *session, struct err *e);
