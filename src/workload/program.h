/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/*
 * The workload `command`, inside: what its keys say, and its parts.  program.c holds the
 * keys, program_settings.c what was set of them, program_file.c the definitions that come
 * with the program, program_words.c the splitting of command lines, program_metric.c the
 * reading of figures, program_run.c the run.
 *
 * A definition and a section of a plan say the same things in the same words, so both are
 * a `struct program_settings`; what the plan says wins.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/err.h"
#include "core/supervise.h"
#include "result/result.h"
#include "workload/workload.h"

#define PROGRAM_TIMEOUT_NS (UINT64_C(3600) * 1000000000)

enum program_field {
	PROGRAM_EXEC,
	PROGRAM_SETUP,
	PROGRAM_CLEANUP,
	PROGRAM_TIMEOUT,
	PROGRAM_SPACE,
	PROGRAM_DURATION,
	PROGRAM_NEEDS,
	PROGRAM_USER,
	PROGRAM_SUMMARY, /* of a definition only */
	PROGRAM_FIELDS
};

/* env.NAME */
struct program_variable {
	char *name, *value;
};

enum program_source { SOURCE_JSON, SOURCE_CSV, SOURCE_REGEX, SOURCE_ELAPSED };

/* metric.NAME */
struct program_metric {
	char *phase, *name; /* of "create/rate"; the phase of "rate" is "run" */
	char *spec;	    /* as it was written */
	enum result_unit unit;
	double factor; /* from the unit of the program to ours */
	enum result_direction direction;
	enum program_source source;
	char *where; /* pointer, column or expression */
};

struct program_settings {
	char *fields[PROGRAM_FIELDS]; /* NULL: not said */
	struct program_variable *variables;
	size_t variable_count;
	struct program_metric *metrics;
	size_t metric_count;
};

/* The options of the workload. */
struct program {
	char *name;	 /* of the definition; NULL: none */
	char *directory; /* where it lies, absolute; NULL without one */
	struct program_settings own, shipped;
};

/* program_settings.c */

/* Sets one key; unknown: -ENOENT. */
int program_settings_set(struct program_settings *s, const char *key, const char *value,
	struct err *e);
/* NULL: not said. */
const char *program_settings_variable(const struct program_settings *s, const char *name);
void program_settings_deinit(struct program_settings *s);
void program_deinit(void *command);

/* What holds: of the plan, else of the definition; NULL: nothing said. */
const char *program_field(const struct program *c, enum program_field field);
const char *program_variable(const struct program *c, const char *name);

/* Calls visit for every metric that holds, those of the definition first. */
int program_each_metric(const struct program *c,
	int (*visit)(void *data, const struct program_metric *m, struct err *e),
	void *data, struct err *e);

/* program_file.c */

/* Reads the definition NAME, or FILE when there is a slash in it, into c. */
int program_load(struct program *c, const char *name, struct err *e);

/* Names of all definitions, sorted; both freed by the caller, as is each name. */
int program_list(char ***names, size_t *count, struct err *e);

/* One of the programs that a command needs. */
struct program_need {
	char *program; /* a name, or a path that may have wildcards */
	char *package; /* NULL: not said */
	bool installed;
};

struct program_needs {
	struct program_need *at;
	size_t count;
};

/* Parses "needs" and looks which are there. */
int program_needs_read(struct program_needs *needs, const struct program *c, struct err *e);
void program_needs_deinit(struct program_needs *needs);

/* program_words.c */

/* Value of a variable, or NULL: unknown. */
typedef const char *program_lookup(const void *data, const char *name);

/*
 * Splits a command line: blanks separate words, '...' and "..." keep them together, a
 * backslash takes the next character as it is, and $NAME or ${NAME} is replaced except in
 * '...'; a value is never split.  Nothing else has a meaning: no shell is involved.  *argv
 * is NULL-ended; free it with program_words_free().  ERR_USAGE for an open quote and for
 * an unknown variable.
 */
int program_words(const char *line, program_lookup *lookup, const void *data,
	char ***argv, struct err *e);
void program_words_free(char **argv);

/* The text with its variables replaced, unsplit; the caller frees it. */
int program_expand(const char *text, program_lookup *lookup, const void *data, char **out,
	struct err *e);

/* program_metric.c */

/* "UNIT DIRECTION SOURCE [WHERE]"; m->phase and m->name are set from path. */
int program_metric_parse(
	struct program_metric *m, const char *path, const char *spec, struct err *e);
void program_metric_deinit(struct program_metric *m);

/* What a program printed. */
struct program_output {
	const char *text, *errors; /* standard output and error */
	size_t text_bytes;
	uint64_t elapsed_ns;
};

/* Its value in base units of m->unit.  -ENODATA: it is not there; -EBADMSG: it is no
 * number, or not a possible one. */
int program_metric_read(const struct program_metric *m, const struct program_output *o,
	double *value, struct err *e);

/* program_run.c */

/* The user that the key `user` names; name NULL: ours.  Unknown, or not to be had without
 * root: ERR_REFUSED. */
int program_user_read(const struct program *c, struct supervise_user *u, struct err *e);

int program_measure(const struct program *c, const struct workload_env *env,
	struct result_run *run, struct err *e);

/* All command lines can be split and all variables are known. */
int program_check_lines(const struct program *c, struct err *e);
