/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Command lines without a shell; see program.h.  wordexp(3) would also expand wildcards
 * and "~", and takes variables from our own environment, which threads share.
 */

#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "core/strbuf.h"
#include "workload/program.h"

struct splitter {
	const char *at;
	program_lookup *lookup;
	const void *data;
	struct strbuf word;
	bool in_word;
	char **argv;
	size_t count;
	struct err *e;
};

/* At a "$"; appends the value. */
static int add_variable(struct splitter *s)
{
	bool braces = s->at[1] == '{';
	const char *name = s->at + 1 + braces, *end = name, *value;
	_cleanup_free_ char *copy = NULL;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	if (end == name || (braces && *end != '}'))
		return err_usage(s->e,
			"a \"$\" begins $NAME or ${NAME}; write \\$ for the character");
	copy = strndup(name, (size_t)(end - name));
	if (!copy)
		return err_set(s->e, ENOMEM, "command line");
	value = s->lookup(s->data, copy);
	if (!value)
		return err_usage(s->e,
			"$%s is unknown (a workload sets it with env.%s); write \\$ for the "
			"character",
			copy, copy);
	strbuf_add(&s->word, value);
	s->at = end + braces;
	return 0;
}

static int add_quoted(struct splitter *s)
{
	char quote = *s->at++;
	int r = 0;

	s->in_word = true;
	while (!r && *s->at && *s->at != quote) {
		if (quote == '"' && *s->at == '$') {
			r = add_variable(s);
			continue;
		}
		if (quote == '"' && *s->at == '\\' && s->at[1] && strchr("\"\\$", s->at[1]))
			s->at++;
		strbuf_addn(&s->word, s->at++, 1);
	}
	if (!r && !*s->at++)
		return err_usage(s->e, "a quote (%c) is not closed", quote);
	return r;
}

static int end_word(struct splitter *s)
{
	char **argv, *word;

	if (!s->in_word)
		return 0;
	argv = reallocarray(s->argv, s->count + 2, sizeof(*argv));
	if (argv)
		s->argv = argv;
	word = strbuf_take(&s->word);
	if (!argv || !word) {
		free(word);
		return err_set(s->e, ENOMEM, "command line");
	}
	argv[s->count++] = word;
	argv[s->count] = NULL;
	s->in_word = false;
	return 0;
}

static int split(struct splitter *s)
{
	int r = 0;

	while (!r && *s->at) {
		if (isspace((unsigned char)*s->at)) {
			r = end_word(s);
			s->at++;
		} else if (*s->at == '\'' || *s->at == '"') {
			r = add_quoted(s);
		} else if (*s->at == '$') {
			/* An empty value without quotes is a word, too. */
			s->in_word = true;
			r = add_variable(s);
		} else {
			s->in_word = true;
			if (*s->at == '\\' && s->at[1])
				s->at++;
			strbuf_addn(&s->word, s->at++, 1);
		}
	}
	return r ? r : end_word(s);
}

int program_words(const char *line, program_lookup *lookup, const void *data,
	char ***argv, struct err *e)
{
	struct splitter s = {.at = line, .lookup = lookup, .data = data, .e = e};
	int r = split(&s);

	strbuf_deinit(&s.word);
	if (!r && !s.count)
		r = err_usage(e, "the command line is empty");
	if (r)
		program_words_free(s.argv);
	else
		*argv = s.argv;
	return r;
}

void program_words_free(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

int program_expand(const char *text, program_lookup *lookup, const void *data, char **out,
	struct err *e)
{
	struct splitter s = {.at = text, .lookup = lookup, .data = data, .e = e};
	int r = 0;

	while (!r && *s.at) {
		if (*s.at == '$')
			r = add_variable(&s);
		else
			strbuf_addn(&s.word, s.at++, 1);
	}
	if (!r && !(*out = strbuf_take(&s.word)))
		r = err_set(e, ENOMEM, "expand \"%s\"", text);
	strbuf_deinit(&s.word);
	return r;
}
