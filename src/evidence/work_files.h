/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * Where the files of a workload lie on the volume, by FIEMAP.  On a disk that turns, the
 * place is a rate: a comparison of arms is fair when the files lie in the same region.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct work_files {
	uint64_t files, extents;
	uint64_t bytes;	      /* that have a place */
	uint64_t first_byte, last_byte; /* on the volume; of the first and last extent */
	double moment;	      /* sum over bytes of their place, for the mean */
	bool complete;	      /* no file was left out */
};

/* Adds the regular files below a directory, at most a few thousand.  What has no place yet
 * (delayed allocation), or on a file system without FIEMAP, is left out.  *w is zero at
 * first. */
void work_files_add(struct work_files *w, const char *directory);

/* Mean place of a byte, in bytes from the start of the volume; NAN when there is none. */
double work_files_mean(const struct work_files *w);

/* A new reference; null when nothing has a place. */
json_t *work_files_to_json(const struct work_files *w);
