/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Columns: their description says the truth about their cells, and tables can be cut down
 * to some of them. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/columns.h"

/* A single run in memory, with a metric of each unit and an outcome of an audit. */
static void build(struct report *r)
{
	struct bundle bundle = {.info = {.blocks = 1, .design = {.level = 0.95, .margin = 0.03}}};
	struct result_run run = {0};
	struct result_phase *phase;

	bundle.path = strdup("memory");
	bundle.cells = json_array();
	bundle.info.name = strdup("name");
	bundle.info.version = strdup("0");
	bundle.info.primary = strdup("w/p/rate");
	bundle.info.reason = strdup("");
	assert_int_equal(bundle_info_add_arm(&bundle.info, "a", "inline", "", NULL), 0);
	run.workload = strdup("w");
	run.type = strdup("dd");
	run.arm = strdup("a");
	assert_int_equal(result_run_add_phase(&run, "p", "P", &phase, NULL), 0);
	phase->counters = (struct result_counters){.bytes = 4096, .operations = 1,
		.wall_ns = UINT64_C(1000000000), .threads = 1, .syncs = 1};
	for (int unit = UNIT_BYTES_PER_SECOND; unit <= UNIT_COUNT; unit++) {
		char name[2] = {(char)('a' + unit), '\0'};

		assert_int_equal(result_phase_add_metric(phase, name,
					 (enum result_unit)unit, NO_DIRECTION, 0.5, NULL),
			0);
	}
	phase->evidence = calloc(1, sizeof(*phase->evidence));
	assert_non_null(phase->evidence);
	assert_int_equal(report_build_run(r, &bundle, &run, NULL), 0);
}

static enum column_type type_of(const struct report_cell *cell)
{
	static const enum column_type types[] = {
		[CELL_TEXT] = TYPE_TEXT,
		[CELL_COUNT] = TYPE_COUNT,
		[CELL_YES_NO] = TYPE_YES_NO,
		[CELL_RATIO] = TYPE_RATIO,
		[CELL_BYTES_PER_SECOND] = TYPE_VALUE,
		[CELL_OPERATIONS_PER_SECOND] = TYPE_VALUE,
		[CELL_NANOSECONDS] = TYPE_NANOSECONDS,
		[CELL_FRACTION] = TYPE_FRACTION,
		[CELL_BYTES] = TYPE_BYTES,
		[CELL_NUMBER] = TYPE_NUMBER,
	};

	return types[cell->type];
}

static void expect_types(const struct report_table *t)
{
	for (size_t i = 0; i < t->row_count * t->column_count; i++) {
		const struct report_column *c = &t->columns[i % t->column_count];

		if (t->cells[i].type == CELL_MISSING)
			continue;
		if (c->type == TYPE_VALUE)
			assert_true(t->cells[i].type != CELL_TEXT);
		else if (type_of(&t->cells[i]) != c->type)
			fail_msg("%s.%s holds cells of type %d", t->key, c->key,
				t->cells[i].type);
	}
}

static void cells_have_the_type_of_their_column(void **state)
{
	struct report r;

	(void)state;
	build(&r);
	assert_true(r.tables[TABLE_VALUES].row_count == 6);
	assert_true(r.tables[TABLE_AUDIT].row_count == 1);
	for (size_t i = 0; i < TABLE_COUNT; i++)
		expect_types(&r.tables[i]);
	report_deinit(&r);
}

static void columns_are_described_and_unique(void **state)
{
	(void)state;
	for (size_t i = 0; i < TABLE_COUNT; i++) {
		const struct report_table *t = &report_table_kinds[i];

		assert_true(t->key && t->title && t->column_count);
		for (size_t c = 0; c < t->column_count; c++) {
			assert_true(*t->columns[c].key && *t->columns[c].title);
			assert_true(*t->columns[c].help);
			assert_non_null(column_kinds[t->columns[c].type].word);
			for (size_t k = 0; k < c; k++) {
				assert_string_not_equal(
					t->columns[c].key, t->columns[k].key);
				assert_string_not_equal(
					t->columns[c].title, t->columns[k].title);
			}
		}
	}
}

static void a_choice_has_the_cells_in_the_order_that_was_asked_for(void **state)
{
	struct column_selection s;
	struct report r;

	(void)state;
	build(&r);
	assert_int_equal(
		columns_select(&r.tables[TABLE_VALUES], "value,metric", &s, NULL), 0);
	assert_int_equal(s.table.column_count, 2);
	assert_int_equal(s.table.row_count, 6);
	assert_string_equal(s.table.columns[0].key, "value");
	assert_true(s.table.cells[0].number == 0.5);
	assert_string_equal(s.table.cells[1].text, "a");
	assert_string_equal(s.table.cells[11].text, "f");
	column_selection_deinit(&s);
	assert_int_equal(columns_select(&r.tables[TABLE_VALUES], NULL, &s, NULL), 0);
	assert_int_equal(s.table.column_count, VALUES_COLUMNS);
	assert_string_equal(s.table.cells[VALUES_METRIC].text, "a");
	column_selection_deinit(&s);
	report_deinit(&r);
}

static void expect_refusal(const char *keys, const char *message)
{
	struct column_selection s;
	struct err e = {0};

	assert_true(columns_select(&report_table_kinds[TABLE_ARMS], keys, &s, &e) < 0);
	assert_int_equal(e.kind, ERR_USAGE);
	assert_non_null(strstr(err_message(&e), message));
	err_clear(&e);
}

static void unknown_columns_are_refused_with_the_nearest(void **state)
{
	const struct report_table *t;
	struct err e = {0};

	(void)state;
	expect_refusal("arm,plasement", "did you mean \"placement\"?");
	expect_refusal("arm,", "there is no column \"\"");
	expect_refusal("arm,arm,arm,arm,arm,arm", "too many columns");
	assert_true(columns_find_table("leger", &t, &e) < 0);
	assert_non_null(strstr(err_message(&e), "did you mean \"ledger\"?"));
	err_clear(&e);
	assert_int_equal(columns_find_table("ledger", &t, NULL), 0);
	assert_int_equal(t->column_count, LEDGER_COLUMNS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cells_have_the_type_of_their_column),
		cmocka_unit_test(columns_are_described_and_unique),
		cmocka_unit_test(a_choice_has_the_cells_in_the_order_that_was_asked_for),
		cmocka_unit_test(unknown_columns_are_refused_with_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
