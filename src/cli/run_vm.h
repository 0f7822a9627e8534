/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* run --vm: the experiment in a small virtual machine. */

#include "cli/command.h"
#include "plan/experiment.h"

/*
 * Runs it there with the program run-vm, which comes with jbdlab, and leaves the bundle at
 * output (NULL: NAME-DATE here), whose path goes into *bundle, which the caller frees.  A
 * plan that names what only this host has is ERR_REFUSED.  Directories of disks are taken
 * out of x.  Returns the status of the run in the machine, with a bundle unless it is
 * another than 0, 5 or 6; or -errno.
 */
int run_in_machine(struct cli *cli, struct experiment *x, const char *output, char **bundle,
	struct err *e);
