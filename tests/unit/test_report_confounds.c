/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Each confound is found where it is, and nowhere else. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "report/confounds.h"

/* An experiment that nothing can be held against, in a form that tests can spoil. */
struct clean {
	struct confound_arm arms[2];
	struct confound_workload workloads[1];
	struct confound_place places[2];
	struct confound_device devices[2];
	struct confound_facts f;
};

static void clean_init(struct clean *c)
{
	*c = (struct clean){
		.arms = { { .name = "inline", .has_journal = true, .journal_bytes = 8 << 20,
				  .journal_features = "journal_64bit", .mount = "commit=5" },
			{ .name = "ssd", .has_journal = true, .external = true,
				.journal_bytes = 8 << 20, .journal_features = "journal_64bit",
				.mount = "commit=5", .same_disk = CONFOUND_NO } },
		.workloads = { { .name = "dd", .file_bytes = 1 << 20, .cache_share = NAN } },
		.places = { { "dd", "inline", 0.10 }, { "dd", "ssd", 0.12 } },
		.devices = { { .label = "volume data", .scheduler = "none",
				     .write_cache = "write back" },
			{ .label = "journal ssd", .scheduler = "none",
				.write_cache = "write back" } },
	};
	c->f = (struct confound_facts){ .arms = c->arms, .arm_count = 2,
		.workloads = c->workloads, .workload_count = 1, .places = c->places,
		.place_count = 2, .devices = c->devices, .device_count = 2, .blocks = 6,
		.memory_bytes = 1 << 30, .governor = "performance", .laptop_mode = "0",
		.pcie_policy = "[default] performance powersave" };
}

/* The ids of all that is found, each with a blank behind it, and the last detail. */
static const char *found_in(const struct clean *c, char *detail, size_t room)
{
	static char ids[400];

	*ids = *detail = '\0';
	for (const struct confound *k = confounds; k->id; k++) {
		_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

		if (!k->found(&c->f, &b))
			continue;
		strcat(ids, k->id);
		strcat(ids, " ");
		snprintf(detail, room, "%s", strbuf_text(&b));
	}
	return ids;
}

static void expect(const struct clean *c, const char *ids, const char *detail)
{
	char seen[400];

	assert_string_equal(found_in(c, seen, sizeof(seen)), ids);
	assert_string_equal(seen, detail);
}

static void nothing_is_held_against_a_clean_experiment(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	expect(&c, "", "");
}

static void what_is_unknown_is_held_against_nobody(void **state)
{
	struct clean c = { .arms = { { .name = "a", .has_journal = true },
				   { .name = "b", .has_journal = true, .external = true } } };

	(void)state;
	c.f = (struct confound_facts){ .arms = c.arms, .arm_count = 2, .blocks = 6,
		.devices = c.devices, .device_count = 2 };
	expect(&c, "", "");
}

static void faults_of_the_plan_are_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.f.blocks = 5;
	expect(&c, "few_blocks ", "blocks: 5");
	c.f.arm_count = 1; /* nothing is compared */
	expect(&c, "", "");
	clean_init(&c);
	c.f.fixed_order = true;
	expect(&c, "fixed_order ", "");
	clean_init(&c);
	c.workloads[0].dd_unsynced = true;
	expect(&c, "dd_unsynced ", "dd");
}

static void unequal_journals_are_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.arms[1].journal_bytes = 400 << 20;
	expect(&c, "journal_sizes ", "inline 8M, ssd 400M");
	c.arms[1].has_journal = false;
	expect(&c, "", "");
	c.arms[1].has_journal = true;
	c.arms[1].journal_bytes = (8 << 20) - 4096; /* the superblock of a journal device */
	expect(&c, "", "");
	clean_init(&c);
	c.arms[1].journal_features = "";
	expect(&c, "journal_features ", "inline: journal_64bit, ssd: none");
}

static void other_differences_of_arms_are_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.arms[1].mount = "";
	expect(&c, "mount_options ", "inline: commit=5, ssd: none");
	clean_init(&c);
	c.arms[0].no_barrier = true;
	expect(&c, "barriers ", "inline");
	clean_init(&c);
	c.arms[1].same_disk = CONFOUND_YES;
	expect(&c, "shared_disk ", "ssd");
	clean_init(&c);
	c.arms[1].lost_flushes = "the data disk sdb got 3 flushes";
	expect(&c, "lost_flushes ", "ssd: the data disk sdb got 3 flushes");
	clean_init(&c);
	c.places[1].place = 0.16;
	expect(&c, "file_places ", "dd: inline at 10 %, ssd at 16 % of the volume");
	c.places[1].workload = "tio"; /* not the same files */
	expect(&c, "", "");
}

static void reads_from_memory_are_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.workloads[0].warm_reads = true;
	expect(&c, "small_data ", "dd 1M, memory 1G");
	c.workloads[0].file_bytes = UINT64_C(2) << 30;
	expect(&c, "", "");
	clean_init(&c);
	c.workloads[0].cache_share = 0.51;
	expect(&c, "cached_reads ", "dd up to 51 %");
}

static void devices_that_are_unlike_are_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.devices[1].scheduler = "bfq";
	expect(&c, "schedulers ", "volume data: none, journal ssd: bfq");
	clean_init(&c);
	c.devices[1].write_cache = "write through";
	expect(&c, "write_caches ", "volume data: write back, journal ssd: write through");
	clean_init(&c);
	c.devices[0].is_virtual = true;
	expect(&c, "virtual_disks ", "volume data");
}

static void power_saving_is_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.f.governor = "powersave";
	expect(&c, "power_saving ", "CPU governor powersave");
	clean_init(&c);
	c.f.laptop_mode = "5";
	expect(&c, "power_saving ", "laptop_mode 5");
	clean_init(&c);
	c.f.pcie_policy = "default performance [powersave]";
	expect(&c, "power_saving ", "PCIe power policy default performance [powersave]");
	clean_init(&c);
	c.devices[0].saving = "min_power";
	expect(&c, "power_saving ", "volume data: min_power");
}

static void what_happened_meanwhile_is_found(void **state)
{
	struct clean c;

	(void)state;
	clean_init(&c);
	c.f.changes = "host/taint from 0 to 4";
	expect(&c, "changes ", "host/taint from 0 to 4");
	clean_init(&c);
	c.f.kernel = "I/O error";
	expect(&c, "kernel_messages ", "I/O error");
	clean_init(&c);
	c.f.foreign = "sdb: 1M read";
	expect(&c, "foreign_io ", "sdb: 1M read");
	c.f.foreign = "";
	expect(&c, "", "");
}

static void sentences_have_no_full_stop_and_ids_are_unique(void **state)
{
	(void)state;
	for (const struct confound *k = confounds; k->id; k++) {
		assert_int_not_equal(k->sentence[strlen(k->sentence) - 1], '.');
		for (const struct confound *other = confounds; other != k; other++)
			assert_string_not_equal(other->id, k->id);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_held_against_a_clean_experiment),
		cmocka_unit_test(what_is_unknown_is_held_against_nobody),
		cmocka_unit_test(faults_of_the_plan_are_found),
		cmocka_unit_test(unequal_journals_are_found),
		cmocka_unit_test(other_differences_of_arms_are_found),
		cmocka_unit_test(reads_from_memory_are_found),
		cmocka_unit_test(devices_that_are_unlike_are_found),
		cmocka_unit_test(power_saving_is_found),
		cmocka_unit_test(what_happened_meanwhile_is_found),
		cmocka_unit_test(sentences_have_no_full_stop_and_ids_are_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
