/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What processes are doing; see tasks.h. */

#include "evidence/tasks.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/fileio.h"
#include "core/macros.h"

enum { DEPTH_MAX = 16, WAITING_MAX = 8, FRAMES_MAX = 8 };

DEFINE_CLEANUP(DIR *, closedir)

typedef void visit_function(void *data, pid_t process, pid_t thread);

/* Every thread of the process and of those below it. */
static void walk(pid_t process, visit_function *visit, void *data, int depth)
{
	char path[64];
	_cleanup_(closedirp) DIR *dir = NULL;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)process);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		_cleanup_free_ char *children = NULL;
		pid_t thread = atoi(entry->d_name);
		char *save = NULL;

		if (thread <= 0)
			continue;
		visit(data, process, thread);
		children = fileio_read_line(
			"/proc/%d/task/%d/children", (int)process, (int)thread);
		for (char *word = children ? strtok_r(children, " ", &save) : NULL;
			word && depth; word = strtok_r(NULL, " ", &save))
			walk(atoi(word), visit, data, depth - 1);
	}
}

/* Behind the name, which is in parentheses and may hold anything; points to the state. */
static const char *fields_of(char **line, pid_t process, pid_t thread)
{
	char *end;

	*line = fileio_read_line("/proc/%d/task/%d/stat", (int)process, (int)thread);
	end = *line ? strrchr(*line, ')') : NULL;
	return end && end[1] == ' ' ? end + 2 : NULL;
}

struct look {
	struct tasks *tasks;
	pid_t process;
	uint64_t clock_ticks;
};

static void add_cpu(void *data, pid_t process, pid_t thread)
{
	struct look *look = data;
	_cleanup_free_ char *line = NULL;
	uint64_t user = 0, system = 0, ended_user = 0, ended_system = 0;
	const char *fields = fields_of(&line, process, thread);

	if (!fields)
		return;
	sscanf(fields,
		"%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64
		" %" SCNu64 " %" SCNu64,
		&user, &system, &ended_user, &ended_system);
	look->clock_ticks += user + system;
	/* The same for all threads of a process. */
	if (process == thread)
		look->clock_ticks += ended_user + ended_system;
	if (thread == look->process)
		look->tasks->stopped = *fields == 'T' || *fields == 't';
}

void tasks_look(struct tasks *t, pid_t process)
{
	struct look look = {.tasks = t, .process = process};
	long hertz = sysconf(_SC_CLK_TCK);

	*t = (struct tasks){0};
	walk(process, add_cpu, &look, DEPTH_MAX);
	t->cpu_ns = look.clock_ticks * NS_PER_S / (uint64_t)(hertz > 0 ? hertz : 100);
}

struct description {
	struct strbuf *out;
	unsigned count;
};

/* "[<0>] folio_wait_bit_common+0x13c/0x350": the names of the functions.  The last line
 * may be one of hexadecimal numbers, which is no frame. */
static bool add_stack(struct strbuf *out, pid_t process, pid_t thread)
{
	_cleanup_free_ char *text = NULL;
	char path[64], *save = NULL;
	int frames = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stack", (int)process, (int)thread);
	if (fileio_read(path, &text, NULL, NULL))
		return false;
	for (char *line = strtok_r(text, "\n", &save); line && frames < FRAMES_MAX;
		line = strtok_r(NULL, "\n", &save)) {
		char *name = strstr(line, "] ");

		if (!name || !(isalpha((unsigned char)name[2]) || name[2] == '_'))
			continue;
		name += 2;
		name[strcspn(name, "+ ")] = '\0';
		strbuf_addf(out, "%s%s", frames++ ? " < " : "", name);
	}
	return frames > 0;
}

static void add_waiting(void *data, pid_t process, pid_t thread)
{
	struct description *d = data;
	_cleanup_free_ char *line = NULL, *name = NULL, *channel = NULL;
	const char *fields = fields_of(&line, process, thread);

	if (!fields || *fields != 'D' || d->count == WAITING_MAX)
		return;
	d->count++;
	name = fileio_read_line("/proc/%d/task/%d/comm", (int)process, (int)thread);
	strbuf_addf(d->out, "\n  %s, process %d: waits in ", name ? name : "?", (int)thread);
	if (add_stack(d->out, process, thread))
		return;
	channel = fileio_read_line("/proc/%d/task/%d/wchan", (int)process, (int)thread);
	strbuf_add(d->out, channel && strcmp(channel, "0") ? channel : "the kernel");
}

void tasks_describe_waiting(pid_t process, struct strbuf *out)
{
	struct description d = {.out = out};

	walk(process, add_waiting, &d, DEPTH_MAX);
}
