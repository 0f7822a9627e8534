/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Holding back the signals that would end the program (SIGINT, SIGTERM, SIGHUP, SIGQUIT)
 * while something must not be left half done.  May be nested.
 */

#include <signal.h>

/* *before is for the release. */
void ending_signals_hold(sigset_t *before);

/* Takes away a signal that was held back and would end the program, and returns its
 * number; 0: there is none.  One that is caught stays, for its handler. */
int ending_signals_take(void);

/* What was held back and not taken takes effect now, unless it is held back by somebody
 * else still. */
void ending_signals_release(const sigset_t *before);
