/* SPDX-License-Identifier: GPL-3.0-or-later */

/* dd's result line against lines that GNU dd printed. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "core/macros.h"
#include "report/render_dd.h"

static void line_is(uint64_t bytes, double seconds, const char *want)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	struct result_phase phase = { .counters = { .bytes = bytes,
					      .wall_ns = (uint64_t)llround(seconds * 1e9) } };

	render_dd_line(&phase, &b);
	assert_string_equal(strbuf_text(&b), want);
}

static void lines_are_those_of_gnu_dd(void **state _unused_)
{
	line_is(2621440000, 51.3763, "2621440000 bytes (2.6 GB, 2.4 GiB) copied, 51.3763 s, "
				     "51.0 MB/s");
	line_is(209715200, 0.40217, "209715200 bytes (210 MB, 200 MiB) copied, 0.40217 s, "
				    "521 MB/s");
	line_is(209715200, 0.20023, "209715200 bytes (210 MB, 200 MiB) copied, 0.20023 s, "
				    "1.0 GB/s");
	line_is(209715200, 0.0312058, "209715200 bytes (210 MB, 200 MiB) copied, "
				      "0.0312058 s, 6.7 GB/s");
	line_is(2048000, 2.59382, "2048000 bytes (2.0 MB, 2.0 MiB) copied, 2.59382 s, "
				  "790 kB/s");
	line_is(5120, 7.2158e-05, "5120 bytes (5.1 kB, 5.0 KiB) copied, 7.2158e-05 s, "
				  "71.0 MB/s");
	line_is(1500, 0.000795647, "1500 bytes (1.5 kB, 1.5 KiB) copied, 0.000795647 s, "
				   "1.9 MB/s");
	line_is(134217728, 1.05153, "134217728 bytes (134 MB, 128 MiB) copied, 1.05153 s, "
				    "128 MB/s");
	line_is(3074424832, 14.075, "3074424832 bytes (3.1 GB, 2.9 GiB) copied, 14.075 s, "
				    "218 MB/s");
	line_is(100, 0.000146218, "100 bytes copied, 0.000146218 s, 684 kB/s");
}

static void small_sizes_have_no_brackets(void **state _unused_)
{
	line_is(1, 1, "1 byte copied, 1 s, 1.0 B/s");
	line_is(1000, 1, "1000 bytes (1.0 kB) copied, 1 s, 1.0 kB/s");
	line_is(999999, 1, "999999 bytes (1.0 MB, 977 KiB) copied, 1 s, 1000 kB/s");
	line_is(10, 0, "10 bytes copied, 0 s, Infinity B/s");
}

static void detail_has_both_rates_and_the_syncs(void **state _unused_)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	static struct hist h;
	struct result_phase phase = { .name = (char *)"write", .title = (char *)"dd write",
		.counters = { .bytes = 200 << 20, .operations = 200,
			.block_bytes = 1 << 20, .wall_ns = 400000000, .syncs = 1 },
		.sync_latency = &h };
	struct result_run run = { .phases = &phase, .phase_count = 1 };

	hist_init(&h);
	hist_record(&h, 12000000);
	render_dd(&run, &b);
	assert_string_equal(strbuf_text(&b),
		"dd write: 209715200 bytes (210 MB, 200 MiB) copied, 0.4 s, 524 MB/s\n"
		"          209715200 bytes in 0.400000 s: 500.000 MiB/s, 524.288 MB/s; "
		"200 of 1M, 1 sync of 12ms\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_those_of_gnu_dd),
		cmocka_unit_test(small_sizes_have_no_brackets),
		cmocka_unit_test(detail_has_both_rates_and_the_syncs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
