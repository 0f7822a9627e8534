/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What an experiment would do, printed as text or JSON; nothing is touched. */

#include "cli/command.h"
#include "plan/experiment.h"

int run_dry(struct cli *cli, const struct experiment *x, struct err *e);
