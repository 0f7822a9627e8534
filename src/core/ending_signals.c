/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Signals that wait; see ending_signals.h. */

#include "core/ending_signals.h"

#include <stddef.h>
#include <time.h>

#include "core/macros.h"

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };

void ending_signals_hold(sigset_t *before)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		sigaddset(&set, numbers[i]);
	sigprocmask(SIG_BLOCK, &set, before);
}

int ending_signals_take(void)
{
	const struct timespec now = { 0 };
	struct sigaction action;
	sigset_t set;
	int number;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (!sigaction(numbers[i], NULL, &action) && action.sa_handler == SIG_DFL)
			sigaddset(&set, numbers[i]);
	number = sigtimedwait(&set, NULL, &now);
	return number > 0 ? number : 0;
}

void ending_signals_release(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}
