/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Known faults of tiobench; see tiobench_rows.h.
 *
 * - 0.3.x adds up the CPU of the process once for each thread: more than 100 % for each
 *   thread is the proof.
 * - 0.4.0 (2007) to 2023 counts the blocks of the whole file in random phases, not the
 *   operations done.  Proof is a rate above threads times block / latency, which no disk
 *   can have, since a thread does one operation after another; or that tiotest counts
 *   as many megabytes as in the sequential phase.
 * - --numruns adds up latencies.
 * - Reads come from the page cache unless that was dropped.  A random read that takes
 *   less than 8 microseconds was served by no device; then the sequential reads before
 *   it, of the same file, were not either.
 */

#include "import/tiobench_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/units.h"

#define MIB 1048576.0
#define TIOBENCH_RANDOM 4000 /* default of tiobench.pl, all threads together */
#define DEVICE_MIN_MS 0.008

const char *const tio_titles[TIO_SECTIONS] = {
	"Sequential Reads", "Random Reads", "Sequential Writes", "Random Writes"};
static const char *const kinds[TIO_SECTIONS] = {"read", "rread", "write", "rwrite"};

static bool is_random(const struct tio_row *row)
{
	return row->section == TIO_RREAD || row->section == TIO_RWRITE;
}

static bool is_read(const struct tio_row *row)
{
	return row->section == TIO_READ || row->section == TIO_RREAD;
}

void tio_rows_add(struct reader *r, struct tio_rows *rows, const struct tio_row *row)
{
	struct tio_row *list;

	if (rows->count >= READER_ROWS_MAX) {
		r->full = true;
		return;
	}
	list = reallocarray(rows->rows, rows->count + 1, sizeof(*list));
	if (!list) {
		r->failed = true;
		return;
	}
	rows->rows = list;
	list[rows->count++] = *row;
}

/* The rate that the latencies allow at most, MiB/s; NAN: unknown. */
static double limit_of(const struct tio_row *row)
{
	double avg_ms = row->avg_ms / row->runs - row->rounding_ms;

	if (!(avg_ms > 0))
		return NAN;
	return row->threads * row->block / MIB / (avg_ms / 1000);
}

static bool is_impossible(const struct tio_row *row)
{
	/* A recovered rate is as coarse as the efficiency it was made from. */
	double slack = 1.01 + (row->marks & RESULT_RECOVERED ? 1 / row->efficiency : 0);

	return row->rate > limit_of(row) * slack; /* false with anything unknown */
}

/* The first row of an arm for which test holds; NULL: none. */
static struct tio_row *first_row(
	struct tio_rows *rows, size_t arm, bool (*test)(const struct tio_row *row))
{
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].arm == arm && test(&rows->rows[i]))
			return &rows->rows[i];
	return NULL;
}

static bool has_cpu_sum(const struct tio_row *row)
{
	return row->threads > 1 && row->cpu > 102 * row->threads;
}

static bool has_latency_sum(const struct tio_row *row)
{
	return row->runs > 1;
}

static bool is_impossible_sequential(const struct tio_row *row)
{
	return !is_random(row) && is_impossible(row);
}

static bool is_impossible_random(const struct tio_row *row)
{
	return is_random(row) && is_impossible(row);
}

static void check_cpu(struct reader *r, struct tio_rows *rows, size_t arm)
{
	const struct tio_row *proof = first_row(rows, arm, has_cpu_sum);

	if (!proof)
		return;
	reader_warn(r, proof->line,
		"CPU %.5g %% with %.0f threads is more than they can use: tiobench 0.3 adds "
		"up the CPU of the process once for each thread, in all rows; CPU efficiency "
		"is too low by as much%s",
		proof->cpu, proof->threads, r->options->correct ? " (corrected)" : "");
	for (size_t i = 0; i < rows->count; i++) {
		struct tio_row *row = &rows->rows[i];

		if (row->arm != arm || !(row->threads > 1))
			continue;
		row->marks |= RESULT_CPU_SUM;
		if (!r->options->correct)
			continue;
		row->cpu /= row->threads;
		row->efficiency *= row->threads;
		row->marks ^= RESULT_CPU_SUM | RESULT_CORRECTED;
	}
}

static void check_latencies(struct reader *r, struct tio_rows *rows, size_t arm)
{
	const struct tio_row *proof = first_row(rows, arm, has_latency_sum);

	if (!proof)
		return;
	reader_warn(r, proof->line,
		"--numruns %.0f: latencies and their shares are sums over the runs, too large "
		"by that factor%s",
		proof->runs,
		r->options->correct ? " (corrected; the maximum is unknown)" : "");
	for (size_t i = 0; i < rows->count; i++) {
		struct tio_row *row = &rows->rows[i];

		if (row->arm != arm || row->runs <= 1)
			continue;
		row->marks |= RESULT_LATENCY_SUM;
		if (!r->options->correct)
			continue;
		row->avg_ms /= row->runs;
		row->rounding_ms /= row->runs;
		row->over_2s /= row->runs;
		row->over_10s /= row->runs;
		row->max_ms = NAN; /* a sum of maxima says nothing */
		row->runs = 1;
		row->marks ^= RESULT_LATENCY_SUM | RESULT_CORRECTED;
	}
}

/* By how much a random rate is too large: blocks of a thread's file / its operations.
 * NAN: unknown. */
static double inflation_of(const struct tio_row *row)
{
	double random = isnan(row->random) ? TIOBENCH_RANDOM : row->random;
	double blocks = fmax(floor(row->size_mib / row->threads), 1) * MIB / row->block;

	return blocks / floor(random / row->threads);
}

static void deflate(struct reader *r, struct tio_row *row)
{
	double factor = inflation_of(row);

	row->marks |= RESULT_INFLATED;
	if (!r->options->correct)
		return;
	if (!(factor >= 1) || !isfinite(factor)) {
		reader_warn(r, row->line,
			"the random rate cannot be corrected: size, block or threads are "
			"unknown");
		return;
	}
	row->rate /= factor;
	row->efficiency /= factor;
	row->counted_mib /= factor;
	row->marks ^= RESULT_INFLATED | RESULT_CORRECTED;
	reader_warn(r, row->line, "random rate divided by %.4g (%.0f operations%s)", factor,
		isnan(row->random) ? TIOBENCH_RANDOM : row->random,
		isnan(row->random) ? ", the default of tiobench" : "");
}

static bool counts_whole_file(const struct tio_row *row)
{
	return is_random(row) && row->counted_mib >= row->size_mib && row->random > 0 &&
	       row->size_mib * MIB > 1.01 * row->random * row->block;
}

static void check_random(struct reader *r, struct tio_rows *rows, size_t arm)
{
	const struct tio_row *proof = first_row(rows, arm, is_impossible_random);
	const char *why = "tiobench 0.4.0 to 2023 counts the blocks of the whole file "
			  "instead of the operations done";

	if (proof)
		reader_warn(r, proof->line,
			"random rate %.2f MB/s at %.3f ms: %.0f thread%s cannot be faster than "
			"%.0f MB/s; %s, and so all random rates here are too high%s",
			proof->rate, proof->avg_ms, proof->threads,
			proof->threads > 1 ? "s" : "", limit_of(proof), why,
			r->options->correct ? "" : " (--correct)");
	else if ((proof = first_row(rows, arm, counts_whole_file)))
		reader_warn(r, proof->line,
			"as many megabytes in the random phase as the file has, though it was "
			"%.0f operations: %s%s",
			proof->random, why, r->options->correct ? "" : " (--correct)");
	for (size_t i = 0; proof && i < rows->count; i++)
		if (rows->rows[i].arm == arm && is_random(&rows->rows[i]))
			deflate(r, &rows->rows[i]);
}

static void check_possible(struct reader *r, struct tio_rows *rows, size_t arm)
{
	const struct tio_row *proof = first_row(rows, arm, is_impossible_sequential);

	if (!proof) {
		check_random(r, rows, arm);
		return;
	}
	for (size_t i = 0; i < rows->count; i++) {
		struct tio_row *row = &rows->rows[i];

		if (row->arm != arm || !is_impossible(row))
			continue;
		row->marks |= RESULT_IMPOSSIBLE;
		reader_warn(r, row->line,
			"rate %.2f MB/s at %.3f ms: %.0f thread%s with blocks of %.0f bytes "
			"cannot be faster than %.0f MB/s; one of the two is wrong, latencies "
			"are sums over the runs with --numruns",
			row->rate, row->avg_ms, row->threads, row->threads > 1 ? "s" : "",
			row->block, limit_of(row));
	}
}

/* Milliseconds for one operation, from above; NAN: unknown. */
static double operation_ms(const struct tio_row *row)
{
	if (!isnan(row->avg_ms))
		return row->avg_ms / row->runs + row->rounding_ms;
	if (row->marks & RESULT_INFLATED)
		return NAN;
	return 1000 * row->threads * row->block / (row->rate * MIB);
}

static bool is_cached(const struct tio_row *row)
{
	return row->section == TIO_RREAD && !row->bypasses_cache && row->block <= 16384 &&
	       operation_ms(row) < DEVICE_MIN_MS;
}

static bool same_files(const struct tio_row *a, const struct tio_row *b)
{
	return a->arm == b->arm && a->size_mib == b->size_mib && a->block == b->block &&
	       a->threads == b->threads;
}

static void check_cache(struct reader *r, struct tio_rows *rows, size_t arm)
{
	const struct tio_row *proof = first_row(rows, arm, is_cached);

	if (!proof)
		return;
	reader_warn(r, proof->line,
		"random reads took %.3f ms on average, less than any device needs: they came "
		"from the page cache, and so did the sequential reads of the same files before "
		"them",
		isnan(proof->avg_ms) ? operation_ms(proof) : proof->avg_ms / proof->runs);
	for (size_t i = 0; i < rows->count; i++)
		for (size_t k = 0; is_cached(&rows->rows[i]) && k < rows->count; k++)
			if (is_read(&rows->rows[k]) &&
				same_files(&rows->rows[i], &rows->rows[k]) &&
				rows->rows[i].arm == arm)
				rows->rows[k].marks |= RESULT_PAGE_CACHE;
}

/* What the names of an arm's phases must tell apart. */
struct variety {
	bool blocks, sizes;
};

static struct variety variety_of(const struct tio_rows *rows, const struct tio_row *like)
{
	struct variety v = {false, false};

	for (size_t i = 0; i < rows->count; i++) {
		const struct tio_row *row = &rows->rows[i];

		if (row->arm != like->arm)
			continue;
		v.blocks |= !isnan(row->block) && row->block != like->block;
		v.sizes |= !isnan(row->size_mib) && row->size_mib != like->size_mib;
	}
	return v;
}

/* As our own engine names them: block and size only where there are several. */
static void name_of(const struct variety *several, const struct tio_row *row, char name[96])
{
	char size[16];
	int n = snprintf(name, 96, "%s", kinds[row->section]);

	if (!isnan(row->threads))
		n += snprintf(name + n, 96 - (size_t)n, "/t%.0f", row->threads);
	if (!isnan(row->block) && several->blocks)
		n += snprintf(name + n, 96 - (size_t)n, "/b%.0f", row->block);
	if (isnan(row->size_mib) || !several->sizes)
		return;
	units_format_bytes((uint64_t)(row->size_mib * MIB), size);
	snprintf(name + n, 96 - (size_t)n, "/s%s", size);
}

static void put_seconds(
	struct result_phase *phase, enum result_counter counter, double seconds)
{
	if (seconds >= 0 && seconds < 9e9)
		reader_counter(phase, counter, (uint64_t)(seconds * NS_PER_S + .5));
}

static void put_counters(struct result_phase *phase, const struct tio_row *row)
{
	if (!isnan(row->size_mib))
		reader_counter(
			phase, RESULT_REQUESTED_BYTES, (uint64_t)(row->size_mib * MIB));
	if (!isnan(row->block))
		reader_counter(phase, RESULT_BLOCK_BYTES, (uint64_t)row->block);
	if (!isnan(row->threads))
		reader_counter(phase, RESULT_THREADS, (uint64_t)row->threads);
	if (row->counted_mib < 8e12 && !row->counted_is_rounded &&
		!(row->marks & RESULT_INFLATED)) {
		reader_counter(phase, RESULT_BYTES, (uint64_t)(row->counted_mib * MIB + .5));
		if (row->block > 0)
			reader_counter(phase, RESULT_OPERATIONS,
				(uint64_t)(row->counted_mib * MIB / row->block + .5));
	}
	put_seconds(phase, RESULT_WALL, row->wall_s);
	put_seconds(phase, RESULT_USER, row->user_s);
	put_seconds(phase, RESULT_SYSTEM, row->system_s);
}

static void finish_row(
	struct reader *r, const struct variety *several, const struct tio_row *row)
{
	struct result_phase *phase;
	char name[96];

	name_of(several, row, name);
	phase = reader_phase(r, row->arm, "tiobench", name, tio_titles[row->section]);
	if (!phase)
		return;
	phase->marks = row->marks;
	put_counters(phase, row);
	reader_rate(r, phase, row->rate * MIB);
	reader_latency(r, phase, "latency_mean", row->avg_ms * NS_PER_MS);
	reader_latency(r, phase, "latency_max", row->max_ms * NS_PER_MS);
	reader_metric(r, phase, "latency_over_2s", UNIT_FRACTION, LOWER_IS_BETTER,
		row->over_2s / 100);
	reader_metric(r, phase, "latency_over_10s", UNIT_FRACTION, LOWER_IS_BETTER,
		row->over_10s / 100);
	reader_metric(r, phase, "cpu", UNIT_FRACTION, NO_DIRECTION, row->cpu / 100);
	reader_metric(r, phase, "cpu_efficiency", UNIT_BYTES_PER_SECOND, NO_DIRECTION,
		row->efficiency * MIB);
}

void tio_rows_finish(struct reader *r, struct tio_rows *rows)
{
	struct variety several = {false, false};

	for (size_t arm = 0; arm < r->im->arm_count; arm++) {
		check_cpu(r, rows, arm);
		check_latencies(r, rows, arm);
		check_possible(r, rows, arm);
		check_cache(r, rows, arm);
	}
	for (size_t i = 0; i < rows->count; i++) {
		const struct tio_row *row = &rows->rows[i];

		if (!i || row->arm != row[-1].arm)
			several = variety_of(rows, row);
		finish_row(r, &several, row);
	}
}

void tio_rows_deinit(struct tio_rows *rows)
{
	free(rows->rows);
	*rows = (struct tio_rows){0};
}
