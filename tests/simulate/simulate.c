/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The experiment on simulated disks: the product's own order of arms, number of blocks
 * and analysis, on disks that drift, wander, switch between two speeds or wear in, beside
 * what is usually done: all runs of A, then all runs of B, and Welch's test.
 *
 * Printed for each kind of disk: how often a difference is claimed where there is none
 * (must be at most 5.5 % at nominal 5 %), and how often the interval contains the true
 * ratio of 1.2 (94 % to 97 %), with a fixed number of blocks, with Stein's two stages and
 * with looks; for Stein's also whether his own interval ("exact") has the wanted
 * half-width and contains the truth.  Exits 1 when a figure misses its goal.
 *
 *	simulate [REPETITIONS]
 */

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/macros.h"
#include "plan/schedule.h"
#include "stats/plan_n.h"
#include "stats/verdict.h"

enum { BLOCKS = 10, BLOCKS_MAX = 2000 };

#define TRUE_RATIO 1.2
#define TARGET 0.03

struct disk {
	const char *name;
	double cv;	     /* of a run, without what follows */
	double drift;	     /* change over the session, linear */
	double correlation;  /* of neighbouring runs */
	double second_speed; /* relative; 0: only one */
	double wear_in;	     /* how much faster it is fresh */
};

static const struct disk disks[] = {
	{ "independent", .03, 0, 0, 0, 0 },
	{ "5 % drift", .03, -.05, 0, 0, 0 },
	{ "10 % drift", .03, -.10, 0, 0, 0 },
	{ "AR(1), rho .5", .03, 0, .5, 0, 0 },
	{ "AR(1), rho .8", .03, 0, .8, 0, 0 },
	{ "two speeds", .02, 0, 0, .12, 0 },
	{ "fresh SSD, 20 %", .03, 0, 0, 0, .20 },
};

struct session {
	const struct disk *disk;
	gsl_rng *rng;
	double last;   /* deviation of the run before */
	size_t at, of; /* runs done, runs in all */
};

/* One run: the log of its rate, for an arm with that true log effect. */
static double run(struct session *s, double effect)
{
	double rho = s->disk->correlation;
	double place = (double)s->at++ / (double)s->of;

	s->last = rho * s->last +
		gsl_ran_gaussian(s->rng, s->disk->cv * sqrt(1 - rho * rho));
	return effect + s->last + s->disk->drift * place +
		(gsl_rng_uniform(s->rng) < .3 ? -s->disk->second_speed : 0) +
		s->disk->wear_in * exp(-8 * place);
}

static struct session begin(const struct disk *disk, gsl_rng *rng, size_t runs)
{
	return (struct session){ disk, rng, gsl_ran_gaussian(rng, disk->cv), 0, runs };
}

/* The product's way: blocks in the product's order, as many as its schedule wants, which
 * sees the log ratios d[] of those that are done.  Returns how many. */
static size_t measure(struct session *s, const struct schedule *schedule, double effect,
	uint64_t seed, double *d)
{
	const double *const series[] = { d };
	struct schedule_step step;
	size_t done = 0;

	for (;;) {
		const struct schedule_effects f = { series, 1, done };
		double rate[2];
		size_t order[2];

		schedule_next(schedule, &f, &step);
		if (done >= step.blocks)
			return done;
		order_block(seed, step.stage, (uint32_t)done, 2, order);
		for (size_t k = 0; k < 2; k++)
			rate[order[k]] = run(s, order[k] ? effect : 0);
		d[done++] = rate[1] - rate[0];
	}
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

static double variance_of(const double *x, size_t n)
{
	double mean = mean_of(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum / (double)(n - 1);
}

/* The usual way: does Welch's test see a difference where there is none? */
static bool welch_claims(const struct disk *disk, gsl_rng *rng)
{
	double x[2][BLOCKS], va, vb, t, df;
	struct session s = begin(disk, rng, 2 * BLOCKS);

	for (size_t arm = 0; arm < 2; arm++)
		for (size_t i = 0; i < BLOCKS; i++)
			x[arm][i] = run(&s, 0);
	va = variance_of(x[0], BLOCKS) / BLOCKS;
	vb = variance_of(x[1], BLOCKS) / BLOCKS;
	t = fabs(mean_of(x[0], BLOCKS) - mean_of(x[1], BLOCKS)) / sqrt(va + vb);
	df = (va + vb) * (va + vb) / ((va * va + vb * vb) / (BLOCKS - 1));
	return 2 * gsl_cdf_tdist_Q(t, df) < .05;
}

/* What the product says in the end. */
struct outcome {
	size_t blocks;
	bool claims;	     /* a difference */
	bool covers;	     /* the interval of the verdict contains the truth */
	bool narrow, stein_covers; /* Stein's own interval: as wanted, contains the truth */
};

static struct outcome experiment(const struct disk *disk, gsl_rng *rng,
	const struct schedule *schedule, double effect, uint64_t seed)
{
	static double d[BLOCKS_MAX];
	struct session s = begin(disk, rng,
		schedule->kind == SCHEDULE_FIXED ? 2 * schedule->blocks : 4 * BLOCKS);
	struct outcome out = { .blocks = measure(&s, schedule, effect, seed, d) };
	const struct interval *i;
	struct contrast c;
	struct interval stein;

	contrast_of(&c, d, out.blocks, schedule->margin, schedule_level(schedule));
	i = &c.summary.interval;
	out.claims = c.verdict == VERDICT_HIGHER || c.verdict == VERDICT_LOWER;
	out.covers = i->low <= effect && effect <= i->high;
	if (schedule->kind != SCHEDULE_STEIN)
		return out;
	stein = plan_n_stein_interval(d, out.blocks, schedule->blocks, .95);
	out.narrow = (stein.high - stein.low) / 2 <= log1p(TARGET) * (1 + 1e-9);
	out.stein_covers = stein.low <= effect && effect <= stein.high;
	return out;
}

/* Over all repetitions: without an effect, and with one. */
struct rates {
	double claims, covers, narrow, stein_covers, blocks;
};

static struct rates repeat(const struct disk *disk, gsl_rng *rng,
	const struct schedule *schedule, size_t repetitions)
{
	struct rates sum = { 0 };

	for (size_t i = 0; i < repetitions; i++) {
		struct outcome same = experiment(
			disk, rng, schedule, 0, gsl_rng_get(rng));
		struct outcome other = experiment(
			disk, rng, schedule, log(TRUE_RATIO), gsl_rng_get(rng));

		sum.claims += same.claims;
		sum.covers += other.covers;
		sum.narrow += same.narrow && other.narrow;
		sum.stein_covers += other.stein_covers;
		sum.blocks += (double)(same.blocks + other.blocks) / 2;
	}
	sum.claims /= (double)repetitions;
	sum.covers /= (double)repetitions;
	sum.narrow /= (double)repetitions;
	sum.stein_covers /= (double)repetitions;
	sum.blocks /= (double)repetitions;
	return sum;
}

static const struct schedule schedules[] = {
	{ SCHEDULE_FIXED, BLOCKS, BLOCKS, 0, TARGET },
	{ SCHEDULE_STEIN, PILOT_BLOCKS, BLOCKS_MAX, TARGET, TARGET },
	{ SCHEDULE_LOOKS, PILOT_BLOCKS, BLOCKS_MAX, 0, TARGET },
};

/*
 * With few repetitions chance has more room: three standard errors.  Looks are judged at
 * their stricter level, so their intervals cover more than 95 %; where they end early,
 * less than that level.
 */
static bool simulate(const struct disk *disk, gsl_rng *rng, size_t repetitions)
{
	double slack = repetitions >= 20000 ? 0 : 3 * sqrt(.05 * .95 / (double)repetitions);
	struct rates r[ARRAY_SIZE(schedules)];
	size_t welch = 0;
	bool pass = true;

	for (size_t i = 0; i < repetitions; i++)
		welch += welch_claims(disk, rng);
	for (size_t i = 0; i < ARRAY_SIZE(schedules); i++) {
		r[i] = repeat(disk, rng, &schedules[i], repetitions);
		pass = pass && r[i].claims <= .055 + slack && r[i].covers >= .94 - slack;
	}
	pass = pass && r[0].covers <= .97 + slack && r[1].narrow == 1 &&
		r[1].stein_covers >= .94 - slack;
	printf("%-15s %6.1f |%6.1f %6.1f |%6.1f %6.1f %6.1f %6.1f %6.1f |%6.1f %6.1f %6.1f  %s\n",
		disk->name, 100 * (double)welch / (double)repetitions, 100 * r[0].claims,
		100 * r[0].covers, 100 * r[1].claims, 100 * r[1].covers,
		100 * r[1].narrow, 100 * r[1].stein_covers, r[1].blocks,
		100 * r[2].claims, 100 * r[2].covers, r[2].blocks, pass ? "pass" : "MISS");
	return pass;
}

int main(int argc, char **argv)
{
	size_t repetitions = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	bool pass = repetitions > 0;

	gsl_rng_set(rng, 20101130);
	printf("%zu repetitions, nominal level 5 %%, true ratio %.1f, target and margin "
	       "%.0f %%; in per cent:\n",
		repetitions, TRUE_RATIO, 100 * TARGET);
	printf("%-15s %6s |%13s |%34s |%20s\n", "", "AA..BB", "10 blocks",
		"Stein's two stages", "looks 6/12/24/48");
	printf("%-15s %6s |%6s %6s |%6s %6s %6s %6s %6s |%6s %6s %6s\n", "disk", "false",
		"false", "covers", "false", "covers", "narrow", "exact", "blocks", "false",
		"covers", "blocks");
	for (size_t i = 0; i < ARRAY_SIZE(disks); i++)
		pass = simulate(&disks[i], rng, repetitions) && pass;
	gsl_rng_free(rng);
	return !pass;
}
