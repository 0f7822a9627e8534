/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * From factors to arms; see grid.h.  A combination is one level of each factor.  All
 * combinations of the design are walked through in a fixed order, the baseline first, so
 * that the first arm is what every other is compared with.
 */

#include "plan/grid.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/strbuf.h"
#include "core/units.h"

static const char *const factor_words[GRID_FACTORS] = {
	[GRID_JOURNAL] = "journal",
	[GRID_SIZE] = "journal_size",
	[GRID_POSITION] = "position",
	[GRID_DATA] = "data",
	[GRID_COMMIT] = "commit",
	[GRID_FAST_COMMIT] = "fast_commit",
	[GRID_MOUNT] = "mount",
};

/* A factor that is not given has level 0. */
struct combination {
	size_t level[GRID_FACTORS];
};

enum reason { POSSIBLE, NO_JOURNAL, JOURNAL_OUTSIDE, DATA_JOURNAL, REASONS };

static const char *const reason_texts[REASONS] = {
	[NO_JOURNAL] = "a volume without journal has no journal_size, position, data, "
		       "commit or fast_commit",
	[JOURNAL_OUTSIDE] = "an external journal has no position in the volume",
	[DATA_JOURNAL] = "with data=journal there are no fast commits",
};

struct expansion {
	const struct grid *g;
	struct plan_arm *arms;
	size_t arm_count;
	unsigned left_out[REASONS];
	bool seen[GRID_FACTORS][GRID_MAX_LEVELS]; /* some arm has it */
	enum reason last[GRID_FACTORS]; /* why a level was left out of some arm */
	struct err *e;
};

static const char *word_of(
	const struct grid *g, const struct combination *c, enum grid_factor f)
{
	return g->factors[f].count ? g->factors[f].words[c->level[f]] : "";
}

static bool is_external(const char *journal)
{
	return !strncmp(journal, "external=", strlen("external="));
}

/* Has this factor a meaning in this combination? */
static enum reason judge(
	const struct grid *g, const struct combination *c, enum grid_factor f)
{
	const char *journal = word_of(g, c, GRID_JOURNAL);

	if (!g->factors[f].count || f == GRID_JOURNAL || f == GRID_MOUNT)
		return POSSIBLE;
	if (!strcmp(journal, "none"))
		return NO_JOURNAL;
	if (f == GRID_POSITION && is_external(journal))
		return JOURNAL_OUTSIDE;
	if (f == GRID_FAST_COMMIT && !strcmp(word_of(g, c, f), "yes") &&
		!strcmp(word_of(g, c, GRID_DATA), "journal"))
		return DATA_JOURNAL;
	return POSSIBLE;
}

static void add_name_word(struct strbuf *b, const char *word)
{
	for (const char *p = word; *p; p++)
		strbuf_addf(b, "%c",
			isalnum((unsigned char)*p) || strchr("-_.", *p) ? *p : '-');
}

/* One external device needs no name, several are told apart by theirs. */
static void add_journal_label(
	const struct grid_levels *journals, const char *word, struct strbuf *b)
{
	const char *slash = strrchr(word, '/');
	size_t external = 0;

	for (size_t i = 0; i < journals->count; i++)
		external += is_external(journals->words[i]);
	if (!is_external(word) || external == 1) {
		strbuf_addn(b, word, strcspn(word, "="));
		return;
	}
	add_name_word(b, slash ? slash + 1 : word + strlen("external="));
}

/* What a level is called in the name of an arm: "external", "64M", "commit30". */
static void add_label(const struct grid *g, enum grid_factor f, const char *word,
	struct strbuf *b)
{
	switch (f) {
	case GRID_JOURNAL:
		add_journal_label(&g->factors[f], word, b);
		break;
	case GRID_DATA: /* "journal" would be taken for its place */
		strbuf_add(b, !strcmp(word, "journal") ? "jdata" : word);
		break;
	case GRID_COMMIT:
		strbuf_addf(b, "commit%s", word);
		break;
	case GRID_FAST_COMMIT:
		strbuf_add(b, !strcmp(word, "yes") ? "fc" : "nofc");
		break;
	default:
		add_name_word(b, word);
		break;
	}
}

static size_t varying_factors(const struct grid *g)
{
	size_t n = 0;

	for (unsigned f = 0; f < GRID_FACTORS; f++)
		n += g->factors[f].count > 1;
	return n;
}

/* All levels in a full design; else the level that differs from the baseline, which is
 * "base" unless there is but one factor. */
static char *name_of(const struct grid *g, const struct combination *c)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	bool every = g->full || varying_factors(g) < 2;

	for (unsigned f = 0; f < GRID_FACTORS; f++) {
		if (g->factors[f].count < 2 || (!every && !c->level[f]) || judge(g, c, f))
			continue;
		if (b.length)
			strbuf_add(&b, "-");
		add_label(g, f, word_of(g, c, f), &b);
	}
	if (!b.length)
		strbuf_add(&b, "base");
	return strbuf_take(&b);
}

/* "journal=external commit=30": the factors that vary and have a meaning here. */
static char *levels_of(const struct grid *g, const struct combination *c)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	for (unsigned f = 0; f < GRID_FACTORS; f++) {
		const char *word = word_of(g, c, f);

		if (g->factors[f].count < 2 || judge(g, c, f))
			continue;
		strbuf_addf(&b, "%s%s=", b.length ? " " : "", factor_words[f]);
		if (f == GRID_JOURNAL)
			add_journal_label(&g->factors[f], word, &b);
		else
			strbuf_add(&b, word);
	}
	return strbuf_take(&b);
}

static int set_placement(struct expansion *x, const struct combination *c,
	struct placement *placement)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};
	const char *journal = word_of(x->g, c, GRID_JOURNAL);

	strbuf_add(&b, *journal ? journal : "inline");
	if (x->g->factors[GRID_SIZE].count && !judge(x->g, c, GRID_SIZE))
		strbuf_addf(&b, ",size=%s", word_of(x->g, c, GRID_SIZE));
	if (x->g->factors[GRID_POSITION].count && !judge(x->g, c, GRID_POSITION))
		strbuf_addf(&b, ",at=%s", word_of(x->g, c, GRID_POSITION));
	if (strbuf_failed(&b))
		return err_set(x->e, ENOMEM, "expand the grid");
	return placement_parse(placement, strbuf_text(&b), x->e);
}

static char *mount_of(const struct grid *g, const struct combination *c)
{
	static const struct {
		enum grid_factor factor;
		const char *prefix;
	} options[] = {{GRID_DATA, "data="}, {GRID_COMMIT, "commit="}, {GRID_MOUNT, ""}};
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const char *word = word_of(g, c, options[i].factor);

		if (!*word || judge(g, c, options[i].factor) ||
			(options[i].factor == GRID_MOUNT && !strcmp(word, "defaults")))
			continue;
		strbuf_addf(&b, "%s%s%s", b.length ? "," : "", options[i].prefix, word);
	}
	return strbuf_take(&b);
}

static enum plan_switch fast_commit_of(const struct grid *g, const struct combination *c)
{
	if (!g->factors[GRID_FAST_COMMIT].count || judge(g, c, GRID_FAST_COMMIT))
		return SWITCH_AS_IS;
	return !strcmp(word_of(g, c, GRID_FAST_COMMIT), "yes") ? SWITCH_ON : SWITCH_OFF;
}

static int add_arm(struct expansion *x, const struct combination *c)
{
	struct plan_arm *arms =
		reallocarray(x->arms, x->arm_count + 1, sizeof(*arms)), *arm;
	int r;

	if (!arms)
		return err_set(x->e, ENOMEM, "expand the grid");
	x->arms = arms;
	arm = &arms[x->arm_count++];
	*arm = (struct plan_arm){.name = name_of(x->g, c),
		.mount = mount_of(x->g, c),
		.levels = levels_of(x->g, c),
		.fast_commit = fast_commit_of(x->g, c),
		.timeout_ns = PLAN_ARM_TIMEOUT_NS};
	if (!arm->name || !arm->mount || !arm->levels)
		return err_set(x->e, ENOMEM, "expand the grid");
	r = plan_check_name(arm->name, x->e);
	for (unsigned f = 0; f < GRID_FACTORS; f++) {
		enum reason reason = judge(x->g, c, f);

		if (reason)
			x->last[f] = reason;
		else
			x->seen[f][c->level[f]] = true;
	}
	return r ? r : set_placement(x, c, &arm->placement);
}

/* Makes the arm, unless a level that was chosen for it means nothing there. */
static int visit(struct expansion *x, const struct combination *c)
{
	for (unsigned f = 0; f < GRID_FACTORS; f++) {
		enum reason reason = judge(x->g, c, f);

		if (reason && (c->level[f] || reason == DATA_JOURNAL)) {
			if (!x->arm_count)
				return err_usage(x->e,
					"the first levels, which are the baseline, cannot "
					"be together: %s",
					reason_texts[reason]);
			x->left_out[reason]++;
			x->last[f] = reason;
			return 0;
		}
	}
	if (x->arm_count == EXPERIMENT_MAX_ARMS)
		return err_usage(x->e, "[grid] makes more than %d arms; take fewer levels, "
				       "or design = one-at-a-time", EXPERIMENT_MAX_ARMS);
	return add_arm(x, c);
}

static int visit_one_at_a_time(struct expansion *x)
{
	struct combination c = {{0}};
	int r = visit(x, &c);

	for (unsigned f = 0; !r && f < GRID_FACTORS; f++) {
		for (size_t i = 1; !r && i < x->g->factors[f].count; i++) {
			c.level[f] = i;
			r = visit(x, &c);
		}
		c.level[f] = 0;
	}
	return r;
}

/* Counts with one digit for each factor, the first factor being the slowest. */
static bool next_combination(const struct grid *g, struct combination *c)
{
	for (unsigned f = GRID_FACTORS; f-- > 0;) {
		if (c->level[f] + 1 < g->factors[f].count) {
			c->level[f]++;
			return true;
		}
		c->level[f] = 0;
	}
	return false;
}

static int visit_all(struct expansion *x)
{
	struct combination c = {{0}};
	int r;

	do {
		r = visit(x, &c);
	} while (!r && next_combination(x->g, &c));
	return r;
}

/* A level that no arm has would be asked for and never measured. */
static int check_seen(struct expansion *x)
{
	for (unsigned f = 0; f < GRID_FACTORS; f++)
		for (size_t i = 0; i < x->g->factors[f].count; i++)
			if (!x->seen[f][i])
				return err_usage(x->e, "%s = %s is in no arm%s%s",
					factor_words[f], x->g->factors[f].words[i],
					x->last[f] ? ": " : "",
					x->last[f] ? reason_texts[x->last[f]] : "");
	return 0;
}

static int check_names(struct expansion *x, const struct experiment *given)
{
	for (size_t i = 0; i < x->arm_count; i++) {
		const char *name = x->arms[i].name;

		for (size_t k = 0; k < given->arm_count; k++)
			if (!strcmp(given->arms[k].name, name))
				return err_usage(x->e, "[grid] makes an arm \"%s\", and "
						       "there is [arm %s]", name, name);
		for (size_t k = 0; k < i; k++)
			if (!strcmp(x->arms[k].name, name))
				return err_usage(x->e, "two arms would be called \"%s\"",
					name);
	}
	return 0;
}

static int note_left_out(const struct expansion *x, struct experiment *to)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	for (unsigned i = 0; i < REASONS; i++)
		if (x->left_out[i])
			strbuf_addf(&b, "%sleft out %u combination%s of the grid: %s",
				b.length ? "\n" : "", x->left_out[i],
				PLURAL(x->left_out[i]), reason_texts[i]);
	if (!b.length)
		return 0;
	to->notes = strbuf_take(&b);
	return to->notes ? 0 : err_set(x->e, ENOMEM, "expand the grid");
}

/* The grid's arms, then those that were given one by one. */
static int join(struct expansion *x, struct experiment *to)
{
	size_t count = x->arm_count + to->arm_count;
	struct plan_arm *arms = reallocarray(x->arms, count, sizeof(*arms));

	if (!arms)
		return err_set(x->e, ENOMEM, "expand the grid");
	if (to->arm_count)
		memcpy(arms + x->arm_count, to->arms, to->arm_count * sizeof(*arms));
	free(to->arms);
	to->arms = arms;
	to->arm_count = count;
	x->arms = NULL;
	x->arm_count = 0;
	return 0;
}

int grid_expand(const struct grid *g, struct experiment *x, struct err *e)
{
	struct expansion expansion = {.g = g, .e = e};
	int r = g->full ? visit_all(&expansion) : visit_one_at_a_time(&expansion);

	if (!r)
		r = check_seen(&expansion);
	if (!r)
		r = check_names(&expansion, x);
	if (!r)
		r = note_left_out(&expansion, x);
	if (!r)
		r = join(&expansion, x);
	for (size_t i = 0; i < expansion.arm_count; i++)
		plan_arm_deinit(&expansion.arms[i]);
	free(expansion.arms);
	return r;
}

void grid_deinit(struct grid *g)
{
	for (unsigned f = 0; f < GRID_FACTORS; f++) {
		for (size_t i = 0; i < g->factors[f].count; i++)
			free(g->factors[f].words[i]);
		free(g->factors[f].words);
	}
	*g = (struct grid){0};
}
