/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The time that models charged, from a file beside each disk: what of it belongs to a
 * phase, and where it is left out. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/clock.h"
#include "evidence/judge.h"
#include "evidence/ledger.h"
#include "result/evidence_json.h"

#define MS NS_PER_MS

struct fixture {
	char path[40];
	int fd;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->path, "/tmp/jbdlab-busy.XXXXXX");
	f->fd = mkstemp(f->path);
	*state = f;
	return f->fd < 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	close(f->fd);
	free(f);
	return 0;
}

/* What a model says of itself. */
static void say(struct fixture *f, uint64_t busy_ns, uint64_t untrue)
{
	const uint64_t counts[] = { busy_ns, untrue };

	assert_int_equal(pwrite(f->fd, counts, sizeof(counts), 0), sizeof(counts));
}

static void charge(struct fixture *f, uint64_t total_ns)
{
	say(f, total_ns, 0);
}

/* A ledger of a disk with a model, one without, and one whose model is gone. */
static struct ledger *new_ledger(struct fixture *f)
{
	const struct ledger_disk disks[] = {
		{ .name = "with", .roles = EVIDENCE_DATA, .busy = f->path },
		{ .name = "without", .roles = EVIDENCE_JOURNAL },
		{ .name = "gone", .roles = EVIDENCE_JOURNAL, .busy = "/nowhere/busy" },
	};
	const struct ledger_setup ledger = { .disks = disks, .disk_count = 3 };
	struct ledger *l = NULL;

	assert_int_equal(ledger_new(&l, &ledger, NULL), 0);
	return l;
}

static void a_phase_has_what_was_charged_between_its_ends(void **state)
{
	struct fixture *f = *state;
	struct result_evidence v = { 0 };
	_cleanup_(ledger_freep) struct ledger *l = NULL;

	charge(f, 100 * MS);
	l = new_ledger(f);
	charge(f, 130 * MS);
	ledger_begin(l);
	charge(f, 137 * MS);
	ledger_end(l, &v);
	assert_true(v.disks[0].modelled);
	assert_int_equal(v.disks[0].model_busy_ns, 7 * MS);
	/* The next part of the same phase. */
	charge(f, 150 * MS);
	ledger_begin(l);
	charge(f, 151 * MS);
	ledger_end(l, &v);
	assert_int_equal(v.disks[0].model_busy_ns, 8 * MS);
	assert_false(v.disks[1].modelled);
	assert_false(v.disks[2].modelled);
}

static void a_counter_that_cannot_be_read_says_nothing(void **state)
{
	struct fixture *f = *state;
	struct result_evidence v = { 0 };
	_cleanup_(ledger_freep) struct ledger *l = new_ledger(f);

	charge(f, 5 * MS);
	ledger_begin(l);
	assert_int_equal(ftruncate(f->fd, 0), 0); /* its model died */
	ledger_end(l, &v);
	assert_false(v.disks[0].modelled);
}

static void a_model_that_owns_up_makes_the_verdict(void **state)
{
	struct fixture *f = *state;
	const struct evidence_arm arm = { .placement = ARM_NO_JOURNAL, .barrier = true };
	const struct result_counters counters = { 0 };
	struct result_evidence v = { 0 };
	_cleanup_(ledger_freep) struct ledger *l = NULL;

	say(f, 0, 5);
	l = new_ledger(f);
	ledger_begin(l);
	ledger_end(l, &v);
	assert_false(evidence_judge_models(&v)); /* that was before */
	ledger_begin(l);
	say(f, 0, 8);
	ledger_end(l, &v);
	assert_int_equal(v.disks[0].model_untrue, 3);
	evidence_judge(&v, &counters, &arm); /* even if nobody asked for a sync */
	assert_int_equal(v.verdict, EVIDENCE_FAILED);
	assert_non_null(strstr(v.reason, "the data disk with acknowledged 3 writes and "
					 "flushes that it did not carry out"));
}

static void only_disks_with_a_model_have_it_in_json(void **state _unused_)
{
	struct result_evidence v = { .disk_count = 2 }, back;
	json_auto_t *json = NULL;
	json_t *disks;

	v.disks[0] = (struct evidence_disk){ .name = "loop0", .modelled = true,
		.model_busy_ns = 11 * MS, .model_untrue = 4 };
	v.disks[1] = (struct evidence_disk){ .name = "sda" };
	json = evidence_to_json(&v);
	disks = json_object_get(json, "disks");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(disks, 0),
				 "model_busy_ns")),
		11 * MS);
	assert_null(json_object_get(json_array_get(disks, 1), "model_busy_ns"));
	assert_int_equal(evidence_from_json(&back, json, NULL), 0);
	assert_true(back.disks[0].modelled && !back.disks[1].modelled);
	assert_int_equal(back.disks[0].model_busy_ns, 11 * MS);
	assert_int_equal(back.disks[0].model_untrue, 4);
	json_object_del(json_array_get(disks, 0), "model_untrue"); /* older bundles */
	assert_int_equal(evidence_from_json(&back, json, NULL), 0);
	assert_int_equal(back.disks[0].model_untrue, 0);
	json_object_set_new(json_array_get(disks, 0), "model_busy_ns", json_string("long"));
	assert_int_not_equal(evidence_from_json(&back, json, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			a_phase_has_what_was_charged_between_its_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_counter_that_cannot_be_read_says_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_model_that_owns_up_makes_the_verdict, setup,
			teardown),
		cmocka_unit_test(only_disks_with_a_model_have_it_in_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
