/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Units; see units.h.  One table of suffixes for each kind and one scanner, so that all
 * commands and the experiment file understand the same words.
 */

#include "core/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/clock.h"

struct suffix {
	const char *name;
	double scale;
};

static const struct suffix duration_suffixes[] = {
	{ "ns", 1 },
	{ "us", NS_PER_US },
	{ "ms", NS_PER_MS },
	{ "s", NS_PER_S },
	{ "m", 60.0 * NS_PER_S },
	{ "min", 60.0 * NS_PER_S },
	{ "h", 3600.0 * NS_PER_S },
	{ "", NS_PER_S },
};

/* A decimal number without sign, exponent or hexadecimal forms. */
static int scan_number(const char *text, double *value, const char **rest)
{
	size_t n = strspn(text, "0123456789.");
	char digits[64];
	char *end;

	if (n == 0 || n >= sizeof(digits))
		return -EINVAL;
	memcpy(digits, text, n);
	digits[n] = '\0';
	*value = strtod(digits, &end);
	if (*end)
		return -EINVAL;
	*rest = text + n;
	return 0;
}

static int memory_bytes(double *bytes)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	long page_bytes = sysconf(_SC_PAGE_SIZE);

	if (pages <= 0 || page_bytes <= 0)
		return -ENOSYS;
	*bytes = (double)pages * (double)page_bytes;
	return 0;
}

static int size_scale(const char *rest, double *scale)
{
	static const char letters[] = "kmgtp";
	const char *at;

	*scale = 1;
	if (!*rest || !strcasecmp(rest, "b"))
		return 0;
	if (!strcmp(rest, "x-ram"))
		return memory_bytes(scale);
	at = strchr(letters, tolower((unsigned char)*rest));
	if (!at || !*at)
		return -EINVAL;
	for (const char *p = letters; p <= at; p++)
		*scale *= 1024;
	rest++;
	return !*rest || !strcasecmp(rest, "b") || !strcasecmp(rest, "ib") ? 0 : -EINVAL;
}

int units_parse_bytes(const char *text, uint64_t *bytes, struct err *e)
{
	const char *rest;
	double value, scale;

	if (scan_number(text, &value, &rest) || size_scale(rest, &scale))
		return err_usage(e, "\"%s\" is not a size (examples: 4k 400M 2x-ram)", text);
	value *= scale;
	if (value >= 9.2e18)
		return err_usage(e, "\"%s\" is too large", text);
	if (value > 0 && value < 1)
		return err_usage(e, "\"%s\" is less than a byte", text);
	*bytes = (uint64_t)value;
	return 0;
}

int units_parse_duration(const char *text, uint64_t *ns, struct err *e)
{
	const char *rest;
	double value;

	if (scan_number(text, &value, &rest) == 0)
		for (size_t i = 0; i < ARRAY_SIZE(duration_suffixes); i++)
			if (!strcmp(rest, duration_suffixes[i].name)) {
				value *= duration_suffixes[i].scale;
				if (value >= 9.2e18)
					return err_usage(e, "\"%s\" is too long", text);
				*ns = (uint64_t)value;
				return 0;
			}
	return err_usage(e, "\"%s\" is not a duration (examples: 500ms 30s 2h)", text);
}

int units_parse_percent(const char *text, double *fraction, struct err *e)
{
	const char *rest;
	double value;

	if (scan_number(text, &value, &rest) || strcmp(rest, "%"))
		return err_usage(e, "\"%s\" is not a percentage (example: 3%%)", text);
	*fraction = value / 100;
	return 0;
}

int units_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *value,
	struct err *e)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno)
		return err_usage(e, "\"%s\" is not a whole number", text);
	if (number < low || number > high)
		return err_usage(e, "%s is not between %llu and %llu", text,
			(unsigned long long)low, (unsigned long long)high);
	*value = number;
	return 0;
}

int units_parse_bool(const char *text, int *value, struct err *e)
{
	static const char *const no_yes[][2] = {
		{ "no", "yes" }, { "false", "true" }, { "off", "on" }, { "0", "1" }
	};

	for (size_t i = 0; i < ARRAY_SIZE(no_yes); i++)
		for (int v = 0; v < 2; v++)
			if (!strcasecmp(text, no_yes[i][v])) {
				*value = v;
				return 0;
			}
	return err_usage(e, "\"%s\" is neither yes nor no", text);
}

void units_format_bytes(uint64_t bytes, char out[static 16])
{
	static const char letters[] = "\0kMGTPE";
	double value = (double)bytes;
	size_t i = 0;

	while (value >= 1024 && i + 1 < sizeof(letters) - 1) {
		value /= 1024;
		i++;
	}
	if (value == floor(value))
		snprintf(out, 16, "%.0f%.1s", value, &letters[i]);
	else
		snprintf(out, 16, "%.*f%.1s", value < 10 ? 2 : value < 100 ? 1 : 0, value,
			&letters[i]);
}

void units_format_duration(uint64_t ns, char out[static 24])
{
	uint64_t seconds = ns / NS_PER_S;

	if (ns < NS_PER_US)
		snprintf(out, 24, "%uns", (unsigned)ns);
	else if (ns < NS_PER_MS)
		snprintf(out, 24, "%.3gus", (double)ns / NS_PER_US);
	else if (ns < NS_PER_S)
		snprintf(out, 24, "%.3gms", (double)ns / NS_PER_MS);
	else if (seconds < 60)
		snprintf(out, 24, "%.3gs", (double)ns / NS_PER_S);
	else if (seconds < 3600)
		snprintf(out, 24, "%umin %us", (unsigned)(seconds / 60),
			(unsigned)(seconds % 60));
	else
		snprintf(out, 24, "%uh %umin", (unsigned)(seconds / 3600),
			(unsigned)(seconds / 60 % 60));
}
