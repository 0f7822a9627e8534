/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What is fuzzed: the importers, each by its name or all at once, the loader of runs, and
 * what own.c has.  The name of the program says which: fuzz_tiobench, fuzz_all, fuzz_json,
 * fuzz_volume.
 *
 * Whatever the bytes are, an import is refused or gives a result that can be written as
 * JSON and read back, and a run that was read can be written again.
 */

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"
#include "own.h"
#include "result/result_json.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const char *format; /* NULL: all; "json": the loader */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *name = strrchr((*argv)[0], '_');

	(void)argc;
	if (name && strcmp(name + 1, "all"))
		format = name + 1;
	return 0;
}

void must(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "fuzz: %s\n", what);
	abort();
}

static void check_run(const struct result_run *run)
{
	json_t *json = result_run_to_json(run), *again;
	struct result_run back = {0};
	struct err e = {0};

	must(json != NULL, "a run cannot be written");
	must(!result_run_from_json(&back, json, &e), err_message(&e));
	again = result_run_to_json(&back);
	must(again && json_equal(json, again), "a run comes back as another");
	json_decref(json);
	json_decref(again);
	result_run_deinit(&back);
}

static void load(const uint8_t *bytes, size_t n)
{
	json_t *json = json_loadb((const char *)bytes, n, 0, NULL);
	struct result_run run = {0};
	struct err e = {0};

	if (!json)
		return;
	if (!result_run_from_json(&run, json, &e))
		check_run(&run);
	json_decref(json);
	err_clear(&e);
	result_run_deinit(&run);
}

static void import(const uint8_t *bytes, size_t n, bool correct)
{
	struct import_options o = {.format = format, .correct = correct};
	struct import im;
	struct err e = {0};

	if (!import_text(&im, "fuzz", (const char *)bytes, n, &o, &e)) {
		must(im.rows && im.arm_count, "an import without a row");
		for (size_t i = 0; i < im.arm_count; i++)
			for (size_t k = 0; k < im.arms[i].run_count; k++)
				check_run(&im.arms[i].runs[k]);
		import_deinit(&im);
	}
	err_clear(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	fuzz_own_fn *own = format ? fuzz_own_find(format) : NULL;

	if (own) {
		own(bytes, n);
	} else if (format && !strcmp(format, "json")) {
		load(bytes, n);
	} else {
		import(bytes, n, false);
		import(bytes, n, true);
	}
	return 0;
}
