/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Snapshots of the environment: what is compared, what health programs say, whose I/O it
 * was. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "evidence/balance.h"
#include "evidence/disk_health.h"
#include "evidence/environment.h"

static void expect_differences(const char *before, const char *after, const char *expected)
{
	json_t *a = json_loads(before, 0, NULL), *b = json_loads(after, 0, NULL);
	json_t *differences = environment_differences(a, b);
	char *text = json_dumps(differences, JSON_COMPACT | JSON_SORT_KEYS);

	assert_non_null(a);
	assert_non_null(b);
	assert_string_equal(text, expected);
	free(text);
	json_decref(differences);
	json_decref(a);
	json_decref(b);
}

static void equal_snapshots_have_no_differences(void **state)
{
	(void)state;
	expect_differences("{\"host\": {\"a\": 1}}", "{\"host\": {\"a\": 1}}", "[]");
	expect_differences("{\"a\": null}", "{}", "[]");
}

static void a_changed_fact_is_named_by_its_path(void **state)
{
	(void)state;
	expect_differences("{\"host\": {\"governor\": \"performance\"}}",
		"{\"host\": {\"governor\": \"powersave\"}}",
		"[{\"after\":\"powersave\",\"before\":\"performance\","
		"\"fact\":\"host/governor\"}]");
	expect_differences("{\"a\": 1}", "{\"b\": 2}",
		"[{\"after\":null,\"before\":1,\"fact\":\"a\"},"
		"{\"after\":2,\"before\":null,\"fact\":\"b\"}]");
}

static void devices_are_named_by_role_and_name(void **state)
{
	(void)state;
	expect_differences("{\"devices\": [{\"role\": \"volume\", \"name\": \"data\", \"q\": 1}]}",
		"{\"devices\": [{\"role\": \"volume\", \"name\": \"data\", \"q\": 2}]}",
		"[{\"after\":2,\"before\":1,\"fact\":\"devices/volume data/q\"}]");
}

static void time_and_readings_are_no_differences(void **state)
{
	(void)state;
	expect_differences("{\"time\": 1, \"readings\": {\"load\": 1}}",
		"{\"time\": 2, \"readings\": {\"load\": 2}}", "[]");
}

static void expect_reading(const char *text, const char *key, double value)
{
	json_t *readings = disk_health_parse(text);

	assert_non_null(readings);
	assert_true(json_number_value(json_object_get(readings, key)) == value);
	json_decref(readings);
}

static void smartctl_is_understood_for_nvme_and_ata(void **state)
{
	static const char nvme[] = "{\"smartctl\": {\"exit_status\": 0},"
				   "\"temperature\": {\"current\": 41},"
				   "\"nvme_smart_health_information_log\":"
				   "{\"percentage_used\": 7}, \"power_on_time\": {\"hours\": 99}}";
	static const char ata[] = "{\"smartctl\": {}, \"temperature\": {\"current\": 30},"
				  "\"ata_smart_attributes\": {\"table\": ["
				  "{\"id\": 5, \"value\": 100}, {\"id\": 177, \"value\": 88}]}}";

	(void)state;
	expect_reading(nvme, "temperature_celsius", 41);
	expect_reading(nvme, "wear_percent", 7);
	expect_reading(nvme, "power_on_hours", 99);
	expect_reading(ata, "temperature_celsius", 30);
	expect_reading(ata, "wear_percent", 12);
}

static void nvme_gives_kelvins(void **state)
{
	static const char text[] =
		"{\"critical_warning\": 0, \"temperature\": 313, \"percent_used\": 3}";

	(void)state;
	expect_reading(text, "temperature_celsius", 40);
	expect_reading(text, "wear_percent", 3);
}

static void an_answer_without_readings_is_none(void **state)
{
	(void)state;
	assert_null(disk_health_parse(""));
	assert_null(disk_health_parse("Permission denied"));
	assert_null(disk_health_parse("{\"smartctl\": {\"exit_status\": 2}}"));
}

/* A program of that name that is found first. */
static void install(const char *directory, const char *script)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/smartctl", directory);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", script);
	fclose(f);
	chmod(path, 0755);
}

static const char *reason_of(json_t *readings)
{
	return json_string_value(json_object_get(readings, "unknown_because")) ?: "";
}

static void a_program_that_hangs_is_given_up(void **state)
{
	char directory[] = "/tmp/jbdlab-health.XXXXXX", path[8192];
	json_t *readings;
	time_t began = time(NULL);

	(void)state;
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s:%s", directory, getenv("PATH"));
	setenv("PATH", path, 1);
	install(directory, "exec sleep 600");
	readings = disk_health_ask("nodisk", 1);
	assert_true(time(NULL) - began < 300);
	assert_true(json_is_null(json_object_get(readings, "temperature_celsius")));
	assert_non_null(strstr(reason_of(readings), "did not answer"));
	json_decref(readings);

	install(directory, "echo '{\"smartctl\": {}, \"temperature\": {\"current\": 35}}'");
	readings = disk_health_ask("nodisk", 60);
	assert_int_equal(
		json_integer_value(json_object_get(readings, "temperature_celsius")), 35);
	json_decref(readings);

	install(directory, "echo '{\"smartctl\": {\"exit_status\": 2}}'; exit 2");
	readings = disk_health_ask("nodisk", 60);
	assert_non_null(strstr(reason_of(readings), "does not tell"));
	json_decref(readings);
	snprintf(path, sizeof(path), "%s/smartctl", directory);
	unlink(path);
	rmdir(directory);
}

static void what_is_no_physical_disk_is_not_asked(void **state)
{
	json_t *health = disk_health("no-such-disk");
	json_t *readings = json_object_get(health, "readings");

	(void)state;
	assert_non_null(strstr(reason_of(readings), "no physical disk"));
	assert_true(json_is_null(json_object_get(health, "firmware")));
	json_decref(health);
}

static void only_what_nobody_accounts_for_is_foreign(void **state)
{
	const uint64_t mib = 1 << 20;

	(void)state;
	assert_int_equal(balance_foreign(0, 0), 0);
	assert_int_equal(balance_foreign(100 * mib, 100 * mib), 0);
	assert_int_equal(balance_foreign(50 * mib, 100 * mib), 0);
	/* Within the slack: 1 MiB and 5 %. */
	assert_int_equal(balance_foreign(106 * mib, 100 * mib), 0);
	assert_int_equal(balance_foreign(107 * mib, 100 * mib), 7 * mib);
	assert_int_equal(balance_foreign(8 * mib, 0), 8 * mib);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_snapshots_have_no_differences),
		cmocka_unit_test(a_changed_fact_is_named_by_its_path),
		cmocka_unit_test(devices_are_named_by_role_and_name),
		cmocka_unit_test(time_and_readings_are_no_differences),
		cmocka_unit_test(smartctl_is_understood_for_nvme_and_ata),
		cmocka_unit_test(nvme_gives_kelvins),
		cmocka_unit_test(an_answer_without_readings_is_none),
		cmocka_unit_test(a_program_that_hangs_is_given_up),
		cmocka_unit_test(what_is_no_physical_disk_is_not_asked),
		cmocka_unit_test(only_what_nobody_accounts_for_is_foreign),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
