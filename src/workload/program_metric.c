/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Figures in what a program printed; see program.h.  A figure is found by a JSON pointer
 * (RFC 6901), by a column of comma-separated values, or by the first parenthesis of an
 * extended regular expression (regex(7)) whose last match counts, because programs that
 * show progress print their final word last.
 *
 * A program that prints rubbish must not become a result: a figure is a whole word that
 * strtod(3) takes, finite and not negative.
 */

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <string.h>

#include "core/strbuf.h"
#include "workload/program.h"
#include "workload/values.h"

static const struct unit_word {
	const char *word;
	enum result_unit unit;
	double factor;
} unit_words[] = {
	{"B/s", UNIT_BYTES_PER_SECOND, 1},
	{"kB/s", UNIT_BYTES_PER_SECOND, 1e3},
	{"KiB/s", UNIT_BYTES_PER_SECOND, 1 << 10},
	{"MB/s", UNIT_BYTES_PER_SECOND, 1e6},
	{"MiB/s", UNIT_BYTES_PER_SECOND, 1 << 20},
	{"ops/s", UNIT_OPERATIONS_PER_SECOND, 1},
	{"ns", UNIT_NANOSECONDS, 1},
	{"us", UNIT_NANOSECONDS, 1e3},
	{"ms", UNIT_NANOSECONDS, 1e6},
	{"s", UNIT_NANOSECONDS, 1e9},
	{"B", UNIT_BYTES, 1},
	{"KiB", UNIT_BYTES, 1 << 10},
	{"MiB", UNIT_BYTES, 1 << 20},
	{"percent", UNIT_FRACTION, .01},
	{"fraction", UNIT_FRACTION, 1},
	{"count", UNIT_COUNT, 1},
};

static const char *const direction_words[] = {
	[HIGHER_IS_BETTER] = "higher",
	[LOWER_IS_BETTER] = "lower",
	[NO_DIRECTION] = "neither",
};

static const char *const source_words[] = {
	[SOURCE_JSON] = "json",
	[SOURCE_CSV] = "csv",
	[SOURCE_REGEX] = "regex",
	[SOURCE_ELAPSED] = "elapsed",
};

/* The next word of *text, which moves behind it; false: there is none. */
static bool next_word(const char **text, char word[static 16])
{
	size_t n;

	*text += strspn(*text, " \t");
	n = strcspn(*text, " \t");
	snprintf(word, 16, "%.*s", (int)n, *text);
	*text += n;
	return n;
}

static int find_unit(const char *word, struct program_metric *m, struct err *e)
{
	const char *words[ARRAY_SIZE(unit_words)];
	unsigned i = 0;
	int r;

	for (size_t k = 0; k < ARRAY_SIZE(unit_words); k++)
		words[k] = unit_words[k].word;
	r = values_parse_word(word, words, ARRAY_SIZE(words), &i, e);
	m->unit = unit_words[i].unit;
	m->factor = unit_words[i].factor;
	return r ? err_wrap(e, r, "unit") : 0;
}

static int check_regex(const char *text, struct err *e)
{
	regex_t re;
	char why[100];
	int r = regcomp(&re, text, REG_EXTENDED | REG_NEWLINE);

	if (r) {
		regerror(r, &re, why, sizeof(why));
		return err_usage(e, "\"%s\": %s", text, why);
	}
	r = re.re_nsub ? 0
		       : err_usage(e,
				 "\"%s\" has no parentheses around the figure", text);
	regfree(&re);
	return r;
}

static int check_where(const struct program_metric *m, struct err *e)
{
	switch (m->source) {
	case SOURCE_JSON:
		return *m->where == '/' ? 0
					: err_usage(e, "a JSON pointer begins with \"/\"");
	case SOURCE_CSV:
		return *m->where ? 0 : err_usage(e, "csv needs a column");
	case SOURCE_REGEX:
		return check_regex(m->where, e);
	default:
		return !*m->where ? 0 : err_usage(e, "nothing follows \"elapsed\"");
	}
}

static int set_path(struct program_metric *m, const char *path, struct err *e)
{
	const char *slash = strrchr(path, '/');

	for (const char *p = path; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-_./", *p))
			return err_usage(e, "\"%s\" is no name of a metric: letters, "
					    "digits, \"-\", \"_\", and \"/\" behind a phase",
				path);
	m->phase = slash ? strndup(path, (size_t)(slash - path)) : strdup("run");
	m->name = strdup(slash ? slash + 1 : path);
	if (!m->phase || !m->name)
		return err_set(e, ENOMEM, "metric");
	return *m->name && *m->phase ? 0 : err_usage(e, "a metric needs a name");
}

int program_metric_parse(
	struct program_metric *m, const char *path, const char *spec, struct err *e)
{
	char unit[16], direction[16], source[16];
	const char *rest = spec;
	unsigned index = 0;
	int r;

	*m = (struct program_metric){0};
	if (!next_word(&rest, unit) || !next_word(&rest, direction) ||
		!next_word(&rest, source))
		return err_usage(e, "a metric is \"UNIT DIRECTION SOURCE\", for instance "
				    "\"ops/s higher regex ([0-9.]+) ops\"");
	rest += strspn(rest, " \t");
	m->spec = strdup(spec);
	m->where = strdup(rest);
	r = m->spec && m->where ? set_path(m, path, e) : err_set(e, ENOMEM, "metric");
	if (!r)
		r = find_unit(unit, m, e);
	if (!r)
		r = values_parse_word(direction, direction_words,
			ARRAY_SIZE(direction_words), &index, e);
	m->direction = index;
	if (!r)
		r = values_parse_word(
			source, source_words, ARRAY_SIZE(source_words), &index, e);
	m->source = index;
	if (!r)
		r = check_where(m, e);
	if (r)
		program_metric_deinit(m);
	return r;
}

void program_metric_deinit(struct program_metric *m)
{
	free(m->phase);
	free(m->name);
	free(m->spec);
	free(m->where);
	*m = (struct program_metric){0};
}

static int to_number(const char *text, size_t length, double *value, struct err *e)
{
	char word[64], *end;

	while (length && isspace((unsigned char)*text)) {
		text++;
		length--;
	}
	snprintf(word, sizeof(word), "%.*s", (int)MIN(length, sizeof(word)), text);
	*value = strtod(word, &end);
	while (isspace((unsigned char)*end))
		end++;
	if (end == word || *end || !isfinite(*value) || *value < 0 ||
		strpbrk(word, "xX"))
		return err_say(e, EBADMSG, "\"%.20s\" is no figure", word);
	return 0;
}

/* One step of a pointer: the reference token before the next "/". */
static const json_t *descend(const json_t *json, const char *token, size_t length)
{
	_cleanup_(strbuf_deinit) struct strbuf name = {0};
	char *end;

	for (size_t i = 0; i < length; i++) {
		if (token[i] == '~' && i + 1 < length)
			strbuf_add(&name, token[++i] == '1' ? "/" : "~");
		else
			strbuf_addn(&name, token + i, 1);
	}
	if (json_is_array(json)) {
		size_t i = strtoul(strbuf_text(&name), &end, 10);

		return *end || !length ? NULL : json_array_get(json, i);
	}
	return json_object_get(json, strbuf_text(&name));
}

/* Programs print warnings before their JSON: it begins with the first line that begins
 * with a brace or bracket. */
static json_t *load_json(const struct program_output *o, json_error_t *error)
{
	const char *at = o->text;

	while (at && *at != '{' && *at != '[') {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	if (!at)
		return NULL;
	return json_loadb(at, o->text_bytes - (size_t)(at - o->text),
		JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL, error);
}

static int read_json(const struct program_metric *m, const struct program_output *o,
	double *value, struct err *e)
{
	json_error_t error = {.text = "there is none"};
	json_auto_t *root = load_json(o, &error);
	const json_t *at = root;
	const char *p = m->where;

	if (!root)
		return err_say(e, EBADMSG, "no JSON in what was printed: %s", error.text);
	while (at && *p == '/') {
		size_t n = strcspn(p + 1, "/");

		at = descend(at, p + 1, n);
		p += n + 1;
	}
	if (json_is_string(at))
		return to_number(
			json_string_value(at), json_string_length(at), value, e);
	if (!at)
		return err_say(e, ENODATA, "there is nothing at %s", m->where);
	*value = json_number_value(at);
	if (!json_is_number(at) || !isfinite(*value) || *value < 0)
		return err_say(e, EBADMSG, "what is at %s is no figure", m->where);
	return 0;
}

/* The column-th field, from 1, of a line. */
static const char *field(const char *line, size_t column, size_t *length)
{
	while (--column) {
		line += strcspn(line, ",\n");
		if (*line++ != ',')
			return NULL;
	}
	*length = strcspn(line, ",\r\n");
	return line;
}

static size_t column_of(const char *header, const char *name)
{
	const char *at;
	size_t n;

	for (size_t column = 1; (at = field(header, column, &n)); column++)
		if (n == strlen(name) && !strncmp(at, name, n))
			return column;
	return 0;
}

/* The last line that is not empty. */
static const char *last_line(const char *text)
{
	const char *line = text;

	for (const char *p = text; p && *p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (*p && *p != '\n')
			line = p;
	}
	return line;
}

static int read_csv(const struct program_metric *m, const struct program_output *o,
	double *value, struct err *e)
{
	const char *line = last_line(o->text), *at = NULL;
	char *end;
	size_t column = strtoul(m->where, &end, 10), n = 0;

	if (*end)
		column = column_of(o->text, m->where);
	if (column)
		at = field(line, column, &n);
	return at ? to_number(at, n, value, e)
		  : err_say(e, ENODATA, "the last line has no column %s", m->where);
}

static bool last_match(
	const regex_t *re, const char *text, const char **start, size_t *length)
{
	regmatch_t match[2];
	bool found = false;

	for (int flags = 0; !regexec(re, text, 2, match, flags); flags = REG_NOTBOL) {
		if (match[1].rm_so >= 0) {
			*start = text + match[1].rm_so;
			*length = (size_t)(match[1].rm_eo - match[1].rm_so);
			found = true;
		}
		text += MAX(match[0].rm_eo, 1);
		if (!text[-1] || !*text)
			break;
	}
	return found;
}

static int read_regex(const struct program_metric *m, const struct program_output *o,
	double *value, struct err *e)
{
	const char *start;
	size_t length;
	regex_t re;
	bool found;

	if (regcomp(&re, m->where, REG_EXTENDED | REG_NEWLINE))
		return err_say(e, ENOMEM, "\"%s\" cannot be compiled", m->where);
	found = last_match(&re, o->text, &start, &length) ||
		last_match(&re, o->errors, &start, &length);
	regfree(&re);
	return found ? to_number(start, length, value, e)
		     : err_say(e, ENODATA, "nothing matches \"%s\"", m->where);
}

int program_metric_read(const struct program_metric *m, const struct program_output *o,
	double *value, struct err *e)
{
	int r = 0;

	switch (m->source) {
	case SOURCE_JSON:
		r = read_json(m, o, value, e);
		break;
	case SOURCE_CSV:
		r = read_csv(m, o, value, e);
		break;
	case SOURCE_REGEX:
		r = read_regex(m, o, value, e);
		break;
	case SOURCE_ELAPSED:
		*value = (double)o->elapsed_ns;
		break;
	}
	/* Elapsed time is in our unit already, whatever unit was asked for. */
	if (!r && m->source != SOURCE_ELAPSED)
		*value *= m->factor;
	return r ? err_wrap(e, r, "metric %s/%s", m->phase, m->name) : 0;
}
