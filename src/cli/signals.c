/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Signals as flags; see signals.h.  They are the one piece of global mutable state: a
 * signal handler can reach nothing else.  The access is atomic because threads read it
 * while the handler runs on another one.
 */

#include "cli/signals.h"

#include <stddef.h>

static volatile sig_atomic_t stop, question;

static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
static struct sigaction before[sizeof(numbers) / sizeof(numbers[0])];

static void note_signal(int number)
{
	if (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		__atomic_store_n(&stop, number, __ATOMIC_RELAXED);
}

volatile sig_atomic_t *signals_catch(void)
{
	struct sigaction action = {.sa_handler = note_signal};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, &before[i]);
	return &stop;
}

void signals_release(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &before[i], NULL);
}

static void note_question(int number)
{
	question = number;
}

volatile sig_atomic_t *signals_catch_question(void)
{
	struct sigaction action = {.sa_handler = note_question, .sa_flags = SA_RESTART};

	sigemptyset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	return &question;
}
