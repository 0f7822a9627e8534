/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Health of disks; see disk_health.h.
 *
 * smartctl --json: keys "temperature", "power_on_time", "nvme_smart_health_information_log",
 * "ata_smart_attributes" and so on, as smartctl(8) of smartmontools 7 writes them.  Wear of
 * an ATA disk is a vendor's attribute; the normalised values of the usual ones count down
 * from 100.  nvme smart-log -o json gives the temperature in kelvins.
 */

#include "evidence/disk_health.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fileio.h"
#include "core/macros.h"
#include "core/process.h"

enum { LIMIT_SECONDS = 5, KELVIN = 273 };

/* Of timeout(1) and env(1). */
enum { TIMEOUT_STATUS = 124, NOT_FOUND_STATUS = 127, KILLED_STATUS = 137 };

/* Media wear, Wear_Leveling_Count, SSD_Life_Left, Media_Wearout_Indicator, Percent_Lifetime:
 * all count the life that is left. */
static const int wear_attributes[] = { 177, 202, 231, 233, 173 };

static json_t *get(const json_t *json, const char *a, const char *b)
{
	const json_t *value = json_object_get(json, a);

	return b ? json_object_get(value, b) : (json_t *)value;
}

static json_t *number_or_null(const json_t *value)
{
	return json_is_number(value) ? json_incref((json_t *)value) : json_null();
}

static json_t *ata_wear(const json_t *json)
{
	const json_t *table = get(json, "ata_smart_attributes", "table"), *row;
	size_t at;

	for (size_t i = 0; i < ARRAY_SIZE(wear_attributes); i++)
		json_array_foreach (table, at, row)
			if (json_integer_value(json_object_get(row, "id")) ==
				wear_attributes[i])
				return json_integer(100 -
					json_integer_value(json_object_get(row, "value")));
	return json_null();
}

static json_t *parse_smartctl(const json_t *json)
{
	const json_t *nvme = json_object_get(json, "nvme_smart_health_information_log");
	const json_t *scsi = json_object_get(json, "scsi_percentage_used_endurance_indicator");
	json_t *wear = nvme ? number_or_null(json_object_get(nvme, "percentage_used"))
		: scsi	    ? number_or_null(scsi)
			    : ata_wear(json);

	return json_pack("{ss,so,so,so,so}", "source", "smartctl", "temperature_celsius",
		number_or_null(get(json, "temperature", "current")), "wear_percent", wear,
		"power_on_hours", number_or_null(get(json, "power_on_time", "hours")),
		"health_passed",
		json_is_boolean(get(json, "smart_status", "passed"))
			? json_incref(get(json, "smart_status", "passed"))
			: json_null());
}

static json_t *parse_nvme(const json_t *json)
{
	const json_t *kelvins = json_object_get(json, "temperature");
	const json_t *wear = json_object_get(json, "percent_used");

	return json_pack("{ss,so,so,so,sn}", "source", "nvme", "temperature_celsius",
		json_is_integer(kelvins) ? json_integer(json_integer_value(kelvins) - KELVIN)
					 : json_null(),
		"wear_percent",
		number_or_null(wear ? wear : json_object_get(json, "percentage_used")),
		"power_on_hours", number_or_null(json_object_get(json, "power_on_hours")),
		"health_passed");
}

json_t *disk_health_parse(const char *text)
{
	json_auto_t *json = json_loads(text, 0, NULL);

	if (json_object_get(json, "smartctl"))
		return json_object_get(json, "temperature") ||
				json_object_get(json, "smart_status")
			? parse_smartctl(json)
			: NULL;
	return json_object_get(json, "critical_warning") ? parse_nvme(json) : NULL;
}

/* What one of the programs says, or NULL with the reason. */
static json_t *ask(const char *const words[], const char **why)
{
	_cleanup_(process_outcome_deinit) struct process_outcome o = { 0 };
	json_t *readings;

	if (process_run(words, NULL, &o, NULL) || o.status == NOT_FOUND_STATUS)
		return NULL; /* not installed: the reason stands already */
	if (o.status == TIMEOUT_STATUS || o.status == KILLED_STATUS) {
		*why = "the program that asks the disk did not answer in time";
		return NULL;
	}
	readings = disk_health_parse(o.output);
	if (!readings)
		*why = "the disk does not tell, or sleeps, or we may not ask";
	return readings;
}

json_t *disk_health_ask(const char *kernel_name, unsigned limit_seconds)
{
	const char *why = "neither smartctl nor nvme is installed";
	char node[300], limit[16];
	const char *const smartctl[] = { "timeout", "-k", "1", limit, "smartctl", "--json", "-H",
		"-A", "-i", "-n", "standby", node, NULL };
	const char *const nvme[] = { "timeout", "-k", "1", limit, "nvme", "smart-log", "-o",
		"json", node, NULL };
	json_t *readings;

	snprintf(node, sizeof(node), "/dev/%s", kernel_name);
	snprintf(limit, sizeof(limit), "%u", limit_seconds);
	readings = ask(smartctl, &why);
	if (!readings && !strncmp(kernel_name, "nvme", 4))
		readings = ask(nvme, &why);
	return readings ? readings
			: json_pack("{sn,sn,sn,sn,sn,ss}", "source", "temperature_celsius",
				  "wear_percent", "power_on_hours", "health_passed",
				  "unknown_because", why);
}

/* The first file that matches, as fileio_read_line() reads it. */
static char *read_first(const char *pattern)
{
	char *line = NULL;
	glob_t found;

	if (!glob(pattern, GLOB_BRACE, NULL, &found))
		line = fileio_read_line("%s", found.gl_pathv[0]);
	globfree(&found);
	return line;
}

static json_t *fact(const char *kernel_name, const char *below)
{
	_cleanup_free_ char *line = NULL;
	char pattern[400];

	snprintf(pattern, sizeof(pattern), "/sys/class/block/%s/device/%s", kernel_name, below);
	line = read_first(pattern);
	return line ? json_string(line) ?: json_null() : json_null();
}

/* A driver of the kernel knows the temperature without waking anything. */
static void add_kernel_temperature(const char *kernel_name, json_t *readings)
{
	_cleanup_free_ char *line = NULL;
	char pattern[400];

	snprintf(pattern, sizeof(pattern),
		"/sys/class/block/%s/device/{hwmon*,hwmon/hwmon*}/temp1_input", kernel_name);
	line = read_first(pattern);
	if (line)
		json_object_set_new(readings, "temperature_celsius",
			json_real(strtod(line, NULL) / 1000));
}

json_t *disk_health(const char *kernel_name)
{
	json_t *readings;
	char device[300];

	snprintf(device, sizeof(device), "/sys/class/block/%s/device", kernel_name);
	if (access(device, F_OK))
		readings = json_pack("{ss}", "unknown_because", "it is no physical disk");
	else
		readings = disk_health_ask(kernel_name, LIMIT_SECONDS);
	add_kernel_temperature(kernel_name, readings);
	return json_pack("{ss,so,so,so,so,so}", "name", kernel_name, "firmware",
		fact(kernel_name, "{firmware_rev,rev}"),
		"driver_state", fact(kernel_name, "state"), "power_control",
		fact(kernel_name, "power/control"), "link_power_policy",
		fact(kernel_name, "../../../scsi_host/host*/link_power_management_policy"),
		"readings", readings);
}
