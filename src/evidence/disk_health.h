/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Firmware, power saving, temperature and wear of a physical disk.  The temperature comes
 * from the kernel where it has a driver for it; wear needs smartctl(8) or nvme(1), which are
 * used when they are installed and given five seconds.
 */

#include <jansson.h>

/*
 * kernel_name: of a whole disk, "sda".  An object; facts that cannot be had are null and
 * "unknown_because" says why of those below "readings".  A disk that sleeps is not woken.
 * A new reference; NULL: no memory.
 */
json_t *disk_health(const char *kernel_name);

/* The part that asks the programs: "readings" of a disk, with a limit for each program. */
json_t *disk_health_ask(const char *kernel_name, unsigned limit_seconds);

/* "readings" from what smartctl --json or nvme smart-log -o json printed; NULL when it is
 * neither, or no memory.  For tests. */
json_t *disk_health_parse(const char *text);
