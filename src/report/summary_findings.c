/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What was found, in sentences.  The primary metric always has one, for each arm or level;
 * another metric has one when it is shown and its interval excludes 1; when that does not
 * outlast Holm's adjustment for all metrics that were looked at, the sentence says so.
 * What remains shares a sentence, with the largest difference that its interval leaves
 * room for: "no difference" is never all that is said.  Longest latencies are a cost.
 *
 * With too few blocks for an interval the ratios of medians are named, and that they say
 * nothing about noise.  A single arm has medians.
 */

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/factors.h"
#include "report/format.h"
#include "report/summary.h"

/* A sentence with more names than that is not read. */
enum { NAMES_MAX = 8, SENTENCES_MAX = 8, ARMS_MAX = 16 };

/* A row of TABLE_COMPARISON or TABLE_FACTORS. */
struct finding {
	const char *workload, *phase, *metric, *direction, *verdict;
	const char *other, *base; /* what is compared: arms or levels */
	const char *factor;	  /* NULL: arms */
	const char *placement;	  /* of the other arm */
	const struct report_cell *ratio; /* of medians, or the estimate */
	const struct report_cell *low, *high, *p, *p_holm, *median;
	uint64_t blocks;
	bool primary, shown, has_interval, too_short;
};

static const char *placement_of(const struct report *r, const char *arm)
{
	for (size_t i = 0; i < r->bundle.info.arm_count; i++)
		if (!strcmp(r->bundle.info.arms[i].name, arm))
			return r->bundle.info.arms[i].placement;
	return "unknown";
}

static struct finding of_arm(const struct report *r, const struct report_cell *row)
{
	bool interval = row[COMPARISON_LOW].type != CELL_MISSING;

	return (struct finding){
		.workload = row[COMPARISON_WORKLOAD].text,
		.phase = row[COMPARISON_PHASE].text,
		.metric = row[COMPARISON_METRIC].text,
		.direction = row[COMPARISON_DIRECTION].text,
		.verdict = row[COMPARISON_VERDICT].text,
		.other = row[COMPARISON_ARM].text,
		.base = row[COMPARISON_FIRST_ARM].text,
		.placement = placement_of(r, row[COMPARISON_ARM].text),
		.ratio = &row[interval ? COMPARISON_ESTIMATE : COMPARISON_RATIO],
		.low = &row[COMPARISON_LOW],
		.high = &row[COMPARISON_HIGH],
		.p = &row[COMPARISON_P],
		.p_holm = &row[COMPARISON_P_HOLM],
		.median = &row[COMPARISON_MEDIAN],
		.blocks = row[COMPARISON_BLOCKS].count,
		.primary = row[COMPARISON_PRIMARY].count,
		.shown = row[COMPARISON_SHOWN].count,
		.too_short = row[COMPARISON_TOO_SHORT].count,
		.has_interval = interval,
	};
}

static struct finding of_level(const struct report_cell *row)
{
	return (struct finding){
		.workload = row[FACTORS_WORKLOAD].text,
		.phase = row[FACTORS_PHASE].text,
		.metric = row[FACTORS_METRIC].text,
		.direction = row[FACTORS_DIRECTION].text,
		.verdict = row[FACTORS_VERDICT].text,
		.other = row[FACTORS_LEVEL].text,
		.base = row[FACTORS_FIRST_LEVEL].text,
		.factor = row[FACTORS_FACTOR].text,
		.ratio = &row[FACTORS_ESTIMATE],
		.low = &row[FACTORS_LOW],
		.high = &row[FACTORS_HIGH],
		.p = &row[FACTORS_P],
		.p_holm = &row[FACTORS_P_HOLM],
		.blocks = row[FACTORS_BLOCKS].count,
		.primary = row[FACTORS_PRIMARY].count,
		.shown = row[FACTORS_SHOWN].count,
		.has_interval = row[FACTORS_LOW].type != CELL_MISSING,
	};
}

static bool is_time(const struct finding *f)
{
	return !strncmp(f->metric, "latency_", 8) || !strncmp(f->metric, "sync_", 5);
}

static bool is_speed(const struct finding *f)
{
	return !strcmp(f->metric, "rate") || !strcmp(f->metric, "operations");
}

/* "sync/write", "longest latency of sync/write", "checkpoints of mail/run". */
static void add_subject(struct strbuf *b, const struct finding *f)
{
	if (!strcmp(f->metric, "latency_max"))
		strbuf_add(b, "longest latency of ");
	else if (!strcmp(f->metric, "sync_max"))
		strbuf_add(b, "longest sync of ");
	else if (!is_speed(f))
		strbuf_addf(b, "%s of ", f->metric);
	strbuf_addf(b, "%s/%s", f->workload, f->phase);
}

static const char *noun(const struct finding *f)
{
	if (!strcmp(f->metric, "operations"))
		return "the operations per second";
	return is_speed(f) ? "the rate" : is_time(f) ? "the time" : "the value";
}

static const char *comparative(const struct finding *f, bool higher)
{
	if (is_speed(f))
		return higher ? "faster" : "slower";
	if (is_time(f))
		return higher ? "longer" : "shorter";
	return higher ? "higher" : "lower";
}

static enum summary_tone tone(const struct finding *f, bool higher)
{
	if (!strcmp(f->direction, "higher_is_better"))
		return higher ? SUMMARY_BETTER : SUMMARY_WORSE;
	if (!strcmp(f->direction, "lower_is_better"))
		return higher ? SUMMARY_WORSE : SUMMARY_BETTER;
	return SUMMARY_NEUTRAL;
}

static void add_other(struct strbuf *b, const struct finding *f, bool *introduced)
{
	if (f->factor)
		strbuf_addf(b, "%s=%s", f->factor, f->other);
	else if (*introduced || !strcmp(f->placement, "unknown"))
		strbuf_add(b, f->other);
	else
		strbuf_addf(b, "%s (journal %s)", f->other, f->placement);
	*introduced = true;
}

static void add_base(struct strbuf *b, const struct finding *f)
{
	if (f->factor)
		strbuf_addf(b, "%s=", f->factor);
	strbuf_add(b, f->base);
}

static void add_interval(struct strbuf *b, const struct report *r, const struct finding *f)
{
	char low[CELL_TEXT_MAX], high[CELL_TEXT_MAX];

	strbuf_addf(b, "%.4g %% interval %s to %s, %llu blocks",
		100 * r->bundle.info.design.level, format_cell(f->low, low),
		format_cell(f->high, high), (unsigned long long)f->blocks);
}

/* The largest difference that the interval leaves room for, as a fraction. */
static double could_hide(const struct finding *f)
{
	return fmax(f->high->number, 1 / f->low->number) - 1;
}

static void add_percent(struct strbuf *b, double fraction)
{
	strbuf_addf(b, fraction < 0.1 ? "%.1f %%" : "%.0f %%", 100 * fraction);
}

static bool is_difference(const struct finding *f)
{
	return !strcmp(f->verdict, "higher") || !strcmp(f->verdict, "lower");
}

static double distance(const struct finding *f)
{
	return f->ratio->type == CELL_MISSING ? 0 : fabs(log(f->ratio->number));
}

static bool is_beyond_margin(const struct report *r, const struct finding *f)
{
	return distance(f) > log1p(r->bundle.info.design.margin);
}

/*
 * What Holm's adjustment leaves of it.  With n blocks the signed-rank test cannot give less
 * than 2^(1-n), however clear the difference is: then the number of blocks is to blame.
 */
static void add_chance(struct strbuf *b, const struct finding *f)
{
	if (f->p->number <= 1.001 * exp2(1 - (double)f->blocks))
		strbuf_addf(b, "; %llu blocks cannot rule out chance for so many metrics: "
			"p %.2g is the least they can give, adjusted %.2g",
			(unsigned long long)f->blocks, f->p->number, f->p_holm->number);
	else
		strbuf_addf(b, "; among many metrics this may be chance: p %.2g, adjusted "
			"for their number %.2g",
			f->p->number, f->p_holm->number);
}

static void add_difference(struct strbuf *b, const struct report *r,
	const struct finding *f, bool *introduced)
{
	char ratio[CELL_TEXT_MAX];

	strbuf_addf(b, " is %s with ", comparative(f, !strcmp(f->verdict, "higher")));
	add_other(b, f, introduced);
	strbuf_add(b, " than with ");
	add_base(b, f);
	strbuf_addf(b, ": %s times %s, ", format_cell(f->ratio, ratio), noun(f));
	add_interval(b, r, f);
	if (!is_beyond_margin(r, f))
		strbuf_addf(b, "; less than the %.3g %% that count",
			100 * r->bundle.info.design.margin);
	if (!f->primary && f->p_holm->number > 1 - r->bundle.info.design.level)
		add_chance(b, f);
}

static void add_no_difference(struct strbuf *b, const struct report *r,
	const struct finding *f, bool *introduced)
{
	bool same = !strcmp(f->verdict, "equivalent");

	if (same)
		strbuf_addf(b, " is the same within %.3g %% with ",
			100 * r->bundle.info.design.margin);
	else
		strbuf_add(b, ": no detectable difference between ");
	add_other(b, f, introduced);
	strbuf_add(b, same ? " as with " : " and ");
	add_base(b, f);
	strbuf_add(b, ": ");
	add_interval(b, r, f);
	strbuf_add(b, ", so that none larger than ");
	add_percent(b, could_hide(f));
	strbuf_add(b, " could hide");
}

/* Fewer blocks than any statement needs. */
static void add_ratio_only(struct strbuf *b, const struct finding *f, bool *introduced)
{
	char ratio[CELL_TEXT_MAX];

	strbuf_add(b, " with ");
	add_other(b, f, introduced);
	strbuf_addf(b, " has %s times %s of ", format_cell(f->ratio, ratio), noun(f));
	add_base(b, f);
	strbuf_addf(b, " in %llu block%s, too few for a statement about noise",
		(unsigned long long)f->blocks, PLURAL(f->blocks));
}

static int add_sentence(struct summary *s, const struct report *r,
	const struct finding *f, bool *introduced, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	enum summary_tone how = SUMMARY_NEUTRAL;

	if (f->primary)
		strbuf_add(&b, "Primary metric: ");
	add_subject(&b, f);
	if (f->ratio->type == CELL_MISSING || !f->blocks) {
		strbuf_add(&b, " with ");
		add_other(&b, f, introduced);
		strbuf_add(&b, " cannot be compared with ");
		add_base(&b, f);
		how = SUMMARY_WARNING;
	} else if (!f->has_interval) {
		add_ratio_only(&b, f, introduced);
	} else if (is_difference(f)) {
		add_difference(&b, r, f, introduced);
		how = tone(f, !strcmp(f->verdict, "higher"));
	} else {
		add_no_difference(&b, r, f, introduced);
	}
	if (f->too_short)
		strbuf_add(&b, "; it took less than 200 ms, which is no measurement");
	if (b.text && b.text[0] >= 'a' && b.text[0] <= 'z' && !is_speed(f))
		b.text[0] = (char)(b.text[0] - 'a' + 'A');
	if (strbuf_failed(&b))
		return err_set(e, ENOMEM, "sum up the report");
	return summary_add(s, f->primary ? SUMMARY_PRIMARY : SUMMARY_METRIC, how, e, "%s.",
		strbuf_text(&b));
}

/* The longest latency is told as a cost. */
static bool is_worth_a_name(const struct finding *f)
{
	return f->shown && f->ratio->type != CELL_MISSING &&
		strcmp(f->metric, "latency_max") != 0;
}

/* Does this one have a sentence of its own? */
static bool stands_alone(const struct finding *f)
{
	if (f->primary)
		return true;
	return is_worth_a_name(f) && f->has_interval && is_difference(f);
}

struct findings {
	struct finding *list;
	size_t count;
};

/* Those that share a sentence: without an interval the ratios that are beyond the margin,
 * and those within it; with one those that chance alone explains. */
enum rest { REST_RATIOS, REST_WITHIN, REST_NO_DIFFERENCE, REST_KINDS };

static enum rest rest_of(const struct report *r, const struct finding *f)
{
	if (f->has_interval)
		return REST_NO_DIFFERENCE;
	return is_beyond_margin(r, f) ? REST_RATIOS : REST_WITHIN;
}

static void add_name(struct strbuf *b, const struct finding *f, enum rest rest)
{
	char ratio[CELL_TEXT_MAX];

	add_subject(b, f);
	if (rest == REST_RATIOS)
		strbuf_addf(b, " %s", format_cell(f->ratio, ratio));
	if (rest != REST_NO_DIFFERENCE)
		return;
	strbuf_add(b, " (");
	add_percent(b, could_hide(f));
	strbuf_add(b, ")");
}

static int add_rest(struct summary *s, const struct report *r, const struct findings *all,
	enum rest rest, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0}, head = {0};
	bool introduced = true;
	size_t count = 0;

	for (size_t i = 0; i < all->count; i++) {
		const struct finding *f = &all->list[i];

		if (!is_worth_a_name(f) || stands_alone(f) || rest_of(r, f) != rest)
			continue;
		if (!count) {
			add_other(&head, f, &introduced);
			strbuf_add(&head, rest == REST_NO_DIFFERENCE ? " and " : " to ");
			add_base(&head, f);
		}
		if (count++ >= NAMES_MAX)
			continue;
		strbuf_add(&b, count > 1 ? ", " : "");
		add_name(&b, f, rest);
	}
	if (!count)
		return 0;
	if (count > NAMES_MAX)
		strbuf_addf(&b, ", and %zu more", count - NAMES_MAX);
	if (strbuf_failed(&b) || strbuf_failed(&head))
		return err_set(e, ENOMEM, "sum up the report");
	if (rest == REST_NO_DIFFERENCE)
		return summary_add(s, SUMMARY_REST, SUMMARY_NEUTRAL, e,
			"No detectable difference between %s, in brackets the largest that "
			"could hide: %s.",
			strbuf_text(&head), strbuf_text(&b));
	if (rest == REST_WITHIN)
		return summary_add(s, SUMMARY_REST, SUMMARY_NEUTRAL, e,
			"Ratio of %s within %.3g %% of 1: %s.", strbuf_text(&head),
			100 * r->bundle.info.design.margin, strbuf_text(&b));
	return summary_add(s, SUMMARY_REST, SUMMARY_NEUTRAL, e,
		"Ratio of %s, which says nothing about noise: %s.", strbuf_text(&head),
		strbuf_text(&b));
}

/* All that is compared with the same arm or level, the primary metric first. */
static int add_group(struct summary *s, const struct report *r, const struct findings *all,
	struct err *e)
{
	bool introduced = false;
	size_t sentences = 0, left_out = 0;
	int status = 0;

	for (int primary = 1; primary >= 0; primary--)
		for (size_t i = 0; !status && i < all->count; i++) {
			const struct finding *f = &all->list[i];

			if (f->primary != (primary != 0) || !stands_alone(f))
				continue;
			if (sentences++ >= SENTENCES_MAX)
				left_out++;
			else
				status = add_sentence(s, r, f, &introduced, e);
		}
	if (!status && left_out)
		status = summary_add(s, SUMMARY_REST, SUMMARY_NEUTRAL, e,
			"%zu more metrics differ: see the comparison.", left_out);
	for (int rest = 0; !status && rest < REST_KINDS; rest++)
		status = add_rest(s, r, all, (enum rest)rest, e);
	return status;
}

static int add_levels(struct summary *s, const struct report *r, struct findings *room,
	struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_FACTORS];
	int status = 0;

	for (size_t i = 0; !status && i < r->factors->count; i++)
		for (size_t l = 1; !status && l < r->factors->list[i].level_count; l++) {
			room->count = 0;
			for (size_t k = 0; k < t->row_count; k++) {
				struct finding f = of_level(t->cells + k * t->column_count);

				if (!strcmp(f.factor, r->factors->list[i].name) &&
					!strcmp(f.other, r->factors->list[i].levels[l]))
					room->list[room->count++] = f;
			}
			status = add_group(s, r, room, e);
		}
	return status;
}

/* A single arm: what was measured. */
static int add_median(struct summary *s, const struct finding *f, struct err *e)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	bool introduced = false;
	char median[CELL_TEXT_MAX];

	add_subject(&b, f);
	strbuf_add(&b, " with ");
	add_other(&b, f, &introduced);
	if (strbuf_failed(&b))
		return err_set(e, ENOMEM, "sum up the report");
	return summary_add(s, f->primary ? SUMMARY_PRIMARY : SUMMARY_METRIC,
		SUMMARY_NEUTRAL, e, "%s%s: %s, %s%llu block%s.",
		f->primary ? "Primary metric: " : "", strbuf_text(&b),
		format_cell(f->median, median),
		f->blocks == 1 ? "" : "median of ", (unsigned long long)f->blocks,
		PLURAL(f->blocks));
}

static int add_medians(struct summary *s, const struct findings *all, struct err *e)
{
	size_t sentences = 0;
	int status = 0;

	for (int primary = 1; primary >= 0; primary--)
		for (size_t i = 0; !status && i < all->count; i++) {
			const struct finding *f = &all->list[i];

			if (f->primary == (primary != 0) && f->blocks &&
				(f->primary || (f->shown && strcmp(f->metric, "latency_max"))) &&
				sentences++ < SENTENCES_MAX)
				status = add_median(s, f, e);
		}
	return status;
}

static int add_arms(struct summary *s, const struct report *r, struct findings *room,
	struct err *e)
{
	const struct report_table *t = &r->tables[TABLE_COMPARISON];
	const struct bundle_info *info = &r->bundle.info;
	size_t arms = 0;
	int status = 0;

	for (size_t arm = info->arm_count > 1; !status && arm < info->arm_count; arm++) {
		if (factors_have_arm(r->factors, arm) || arms++ >= ARMS_MAX)
			continue;
		room->count = 0;
		for (size_t k = 0; k < t->row_count; k++) {
			const struct report_cell *row = t->cells + k * t->column_count;

			if (!strcmp(row[COMPARISON_ARM].text, info->arms[arm].name))
				room->list[room->count++] = of_arm(r, row);
		}
		status = arm ? add_group(s, r, room, e) : add_medians(s, room, e);
	}
	if (!status && arms > ARMS_MAX)
		status = summary_add(s, SUMMARY_REST, SUMMARY_NEUTRAL, e,
			"%zu more arms are in the comparison.", arms - ARMS_MAX);
	return status;
}

int summary_add_findings(struct summary *s, const struct report *r, struct err *e)
{
	size_t most = MAX(r->tables[TABLE_COMPARISON].row_count,
		r->tables[TABLE_FACTORS].row_count);
	_cleanup_free_ struct finding *list = calloc(most + 1, sizeof(*list));
	struct findings room = {.list = list};
	int status;

	if (!list)
		return err_set(e, ENOMEM, "sum up the report");
	status = add_arms(s, r, &room, e);
	if (!status)
		status = add_levels(s, r, &room, e);
	if (status || s->count)
		return status;
	return summary_add(s, SUMMARY_REST, SUMMARY_WARNING, e,
		r->tables[TABLE_VALUES].row_count
			? "No rate was measured for 200 ms or longer: see the values."
			: "Nothing was measured.");
}
