/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Files that come with the program; see place.h. */

#include "core/place.h"

#include <stdio.h>
#include <string.h>

#include "core/macros.h"

char *place_find(const char *given, const char *const places[], size_t count)
{
	char program[4096];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash, *found = NULL;

	if (given && *given)
		return realpath(given, NULL);
	if (n < 0)
		return NULL;
	program[n] = '\0';
	slash = strrchr(program, '/');
	for (size_t i = 0; slash && !found && i < count; i++) {
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%.*s/%s", (int)(slash - program), program,
			    places[i]) < 0) {
			path = NULL;
			return NULL;
		}
		found = realpath(path, NULL);
	}
	return found;
}
