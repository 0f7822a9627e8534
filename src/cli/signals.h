/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Signals as flags that long work polls. */

#include <signal.h>

/* From now on the first of these signals sets the flag to its number and the work in
 * progress is to end soon, cleaned up; a second one changes nothing, so that an impatient
 * ^C does not interrupt the cleaning.  Returns the flag, 0 so far. */
volatile sig_atomic_t *signals_catch(void);

/* After signals_catch(): these signals do again what they did before it. */
void signals_release(void);

/* From now on SIGUSR1 sets the flag that this returns: somebody asks how far it is.  Whoever
 * answers sets it back to 0. */
volatile sig_atomic_t *signals_catch_question(void);
