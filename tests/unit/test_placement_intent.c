/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The intent log: what is written is read back, and nothing else is.  A log that was cut,
 * garbled or edited is damaged, whatever it may still look like: its bytes would be
 * written to a volume.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/fileio.h"
#include "core/strbuf.h"
#include "placement/intent.h"

#define UUID "0b5bd1d8-9f6c-4e3c-8f7a-53a6a1d6a3a1"

struct fixture {
	char directory[32];
	char path[128];
	struct intent intent;
};

static void add_bytes(struct step_list *l, uint64_t offset, size_t n, bool with_before)
{
	uint8_t *after = malloc(n), *before = malloc(n);

	for (size_t i = 0; i < n; i++) {
		after[i] = (uint8_t)random();
		before[i] = (uint8_t)random();
	}
	assert_int_equal(step_list_write(l, offset, after, with_before ? before : NULL, n,
				 NULL), 0);
	free(after);
	free(before);
}

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct step_list *l = &f->intent.steps;

	strcpy(f->directory, "/tmp/jbdlab-intent.XXXXXX");
	assert_non_null(mkdtemp(f->directory));
	snprintf(f->path, sizeof(f->path), "%s/state/moves/" UUID ".json", f->directory);
	f->intent.uuid = strdup(UUID);
	f->intent.origin = strdup("inline,size=64M");
	f->intent.target = strdup("external=/dev/sdb \"1\"\n");
	f->intent.path[ON_VOLUME] = strdup("/dev/sda");
	f->intent.identity[ON_VOLUME] = strdup("size=1000 wwn=0x5000");
	f->intent.path[ON_NEW_JOURNAL] = strdup("/dev/sdb");
	f->intent.identity[ON_NEW_JOURNAL] = strdup("size=2000");
	step_list_add(l, ON_NEW_JOURNAL, "wipe", NULL);
	add_bytes(l, 65600, 8, true);
	step_list_mark_loose(l);
	step_list_add(l, ON_NEW_JOURNAL, "write the new journal", NULL);
	add_bytes(l, 1024, 1024, true);
	add_bytes(l, 8192, 4096, false);
	step_list_add(l, ON_VOLUME, "SWITCH", NULL);
	step_list_mark_switch(l);
	add_bytes(l, 1024, 1024, true);
	step_list_add(l, ON_VOLUME, "clean", NULL);
	add_bytes(l, INT64_MAX, 1, true);
	*state = f;
	return 0;
}

static const char *state_dir(struct fixture *f, char path[static 64])
{
	snprintf(path, 64, "%s/state", f->directory);
	return path;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[64];

	intent_deinit(&f->intent);
	snprintf(command, sizeof(command), "rm -r %s", f->directory);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void write_it(struct fixture *f)
{
	_cleanup_(err_clear) struct err e = { 0 };
	char dir[64];

	if (intent_write(&f->intent, state_dir(f, dir), &e))
		fail_msg("%s", err_message(&e));
}

static int read_it(struct fixture *f, struct intent *i, struct err *e)
{
	char dir[64];

	return intent_read(i, state_dir(f, dir), UUID, e);
}

static void assert_same_steps(const struct step_list *a, const struct step_list *b)
{
	assert_int_equal(a->count, b->count);
	for (size_t i = 0; i < a->count; i++) {
		const struct step *s = &a->items[i], *t = &b->items[i];

		assert_string_equal(s->what, t->what);
		assert_int_equal(s->device, t->device);
		assert_int_equal(s->is_switch, t->is_switch);
		assert_int_equal(s->write_count, t->write_count);
		for (size_t k = 0; k < s->write_count; k++) {
			const struct step_write *w = &s->writes[k], *x = &t->writes[k];

			assert_int_equal(w->offset, x->offset);
			assert_int_equal(w->length, x->length);
			assert_int_equal(w->loose, x->loose);
			assert_memory_equal(w->after, x->after, w->length);
			assert_int_equal(!w->before, !x->before);
			if (w->before)
				assert_memory_equal(w->before, x->before, w->length);
		}
	}
}

static void what_is_written_is_read_back(void **state)
{
	struct fixture *f = *state;
	_cleanup_(intent_deinit) struct intent i = { 0 };

	write_it(f);
	assert_int_equal(read_it(f, &i, NULL), 0);
	assert_string_equal(i.uuid, f->intent.uuid);
	assert_string_equal(i.origin, f->intent.origin);
	assert_string_equal(i.target, f->intent.target);
	for (size_t d = 0; d < STEP_DEVICES; d++) {
		assert_int_equal(!i.path[d], !f->intent.path[d]);
		if (!i.path[d])
			continue;
		assert_string_equal(i.path[d], f->intent.path[d]);
		assert_string_equal(i.identity[d], f->intent.identity[d]);
	}
	assert_same_steps(&i.steps, &f->intent.steps);
}

/* A volume that is full but for a block here and there has a bitmap to change in every
 * group: tens of megabytes. */
static void a_large_log_is_read_back(void **state)
{
	struct fixture *f = *state;
	_cleanup_(intent_deinit) struct intent i = { 0 };
	_cleanup_(err_clear) struct err e = { 0 };

	step_list_add(&f->intent.steps, ON_VOLUME, "checkpoint", NULL);
	for (int n = 0; n < 300; n++)
		add_bytes(&f->intent.steps, (uint64_t)n << 16, 65536, true);
	write_it(f);
	if (read_it(f, &i, &e))
		fail_msg("%s", err_message(&e));
	assert_same_steps(&i.steps, &f->intent.steps);
}

static void only_root_may_read_it(void **state)
{
	struct fixture *f = *state;
	struct stat st;

	write_it(f);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void no_log_is_no_error(void **state)
{
	struct fixture *f = *state;
	_cleanup_(err_clear) struct err e = { 0 };
	struct intent i = { 0 };
	char dir[64];

	assert_int_equal(read_it(f, &i, &e), -ENOENT);
	assert_int_equal(e.code, 0);
	assert_int_equal(intent_remove(state_dir(f, dir), UUID, &e), 0);
	write_it(f);
	assert_int_equal(intent_remove(dir, UUID, &e), 0);
	assert_int_equal(read_it(f, &i, &e), -ENOENT);
}

static void a_kept_log_never_replaces_another(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *one = NULL, *two = NULL;
	char dir[64];

	write_it(f);
	assert_int_equal(intent_keep(state_dir(f, dir), UUID, &one, NULL), 0);
	write_it(f);
	assert_int_equal(intent_keep(dir, UUID, &two, NULL), 0);
	assert_string_not_equal(one, two);
	assert_int_equal(access(one, F_OK), 0);
	assert_int_equal(access(two, F_OK), 0);
	assert_int_equal(access(f->path, F_OK), -1);
}

static void put_text(struct fixture *f, const char *text, size_t n)
{
	FILE *file = fopen(f->path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

/* -EBADMSG and the name of the file, and nothing handed out. */
static void assert_damaged(struct fixture *f, const char *what)
{
	_cleanup_(err_clear) struct err e = { 0 };
	struct intent i = { 0 };
	int r = read_it(f, &i, &e);

	if (r != -EBADMSG)
		fail_msg("%s: %d, not -EBADMSG", what, r);
	assert_non_null(strstr(err_message(&e), f->path));
	assert_null(i.uuid);
	assert_null(i.steps.items);
}

static char *written_text(struct fixture *f, size_t *n)
{
	char *text;

	write_it(f);
	assert_int_equal(fileio_read(f->path, &text, n, NULL), 0);
	return text;
}

static void a_cut_log_is_damaged(void **state)
{
	struct fixture *f = *state;
	size_t n;
	_cleanup_free_ char *text = written_text(f, &n);

	while (n > 1 && text[n - 1] == '\n')
		n--;
	for (size_t cut = 0; cut < n; cut += 1 + cut / 50) {
		put_text(f, text, cut);
		assert_damaged(f, "cut");
	}
}

/* Also where it stays good JSON: a hexadecimal digit, a digit of an offset, a name. */
static void a_changed_byte_is_noticed(void **state)
{
	struct fixture *f = *state;
	size_t n;
	_cleanup_free_ char *text = written_text(f, &n);

	for (size_t at = 0; at < n; at += 1 + (size_t)random() % 97) {
		char was = text[at];

		if (strchr(" \n", was))
			continue;
		text[at] = was == '0' ? '1' : '0';
		put_text(f, text, n);
		assert_damaged(f, "one byte changed");
		text[at] = was;
	}
}

/* The first `from` in the log becomes `to`. */
static void replace(struct fixture *f, const char *from, const char *to)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };
	size_t n, at;
	char *text = written_text(f, &n);

	for (at = 0; at < n && strncmp(text + at, from, strlen(from)); at++)
		;
	assert_int_not_equal(at, n);
	strbuf_addn(&b, text, at);
	strbuf_add(&b, to);
	strbuf_add(&b, text + at + strlen(from));
	free(text);
	put_text(f, strbuf_text(&b), b.length);
	assert_damaged(f, to);
}

static void an_edited_log_is_damaged(void **state)
{
	struct fixture *f = *state;

	replace(f, "jbdlab-move/", "jbdlab/else/");
	replace(f, "\"switch\": true", "\"switch\": false");
	replace(f, "\"device\": \"new_journal\"", "\"device\": \"old_journal\"");
	replace(f, "\"device\": \"new_journal\"", "\"device\": \"none\"");
	replace(f, "\"loose\": true", "\"loose\": false");
	replace(f, "\"before\": null", "\"before\": \"00\"");
	replace(f, "\"before\": null", "\"before\": 5");
	replace(f, "\"offset\": 1024", "\"offset\": 512");
	replace(f, "\"offset\": 1024", "\"offset\": -1024");
	replace(f, "/dev/sda", "/dev/sdc");
	replace(f, "size=2000", "size=2001");
	replace(f, "inline,size=64M", "none");
	replace(f, "\"steps\"", "\"stops\"");
}

static void what_is_no_log_at_all_is_damaged(void **state)
{
	struct fixture *f = *state;
	static const char *const texts[] = { "", "null", "[]", "{}", "{\"schema\": 5}",
		"{\"schema\": \"jbdlab-move/1\"}", "\xff\xfe\x00",
		"{\"schema\":\"jbdlab-move/1\",\"uuid\":\"u\",\"origin\":\"none\","
		"\"target\":\"none\",\"devices\":{},\"steps\":[]}",
		"{\"schema\":\"jbdlab-move/1\",\"uuid\":\"u\",\"origin\":\"none\","
		"\"target\":\"none\",\"devices\":[],\"steps\":[1,2]}" };

	write_it(f);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put_text(f, texts[i], strlen(texts[i]));
		assert_damaged(f, texts[i]);
	}
}

static void a_log_of_another_volume_is_damaged(void **state)
{
	struct fixture *f = *state;
	char other[128];

	write_it(f);
	snprintf(other, sizeof(other), "%s/state/moves/other.json", f->directory);
	assert_int_equal(rename(f->path, other), 0);
	assert_int_equal(symlink(other, f->path), 0);
	free(f->intent.uuid);
	f->intent.uuid = strdup("other");
	write_it(f);
	assert_damaged(f, "other UUID");
}

static void a_place_that_cannot_be_written_is_named(void **state)
{
	struct fixture *f = *state;
	_cleanup_(err_clear) struct err e = { 0 };
	char dir[64];

	snprintf(dir, sizeof(dir), "%s/file", f->directory);
	assert_int_equal(close(open(dir, O_CREAT | O_WRONLY, 0600)), 0);
	assert_int_equal(intent_write(&f->intent, dir, &e), -ENOTDIR);
	assert_non_null(strstr(err_message(&e), dir));
}

static void nothing_is_left_beside_the_log(void **state)
{
	struct fixture *f = *state;
	char dir[96];
	struct dirent *entry;
	int entries = 0;
	DIR *d;

	write_it(f);
	write_it(f);
	snprintf(dir, sizeof(dir), "%s/state/moves", f->directory);
	d = opendir(dir);
	assert_non_null(d);
	while ((entry = readdir(d)))
		entries += entry->d_name[0] != '.';
	closedir(d);
	assert_int_equal(entries, 1);
}

/* A kill in the middle of writing leaves a file that is no log. */
static void an_unfinished_log_is_removed_with_the_next(void **state)
{
	struct fixture *f = *state;
	char dir[64], mine[160], other[160];

	write_it(f);
	snprintf(mine, sizeof(mine), "%s.Ab12Cd", f->path);
	snprintf(other, sizeof(other), "%s/state/moves/other.json.Ab12Cd", f->directory);
	assert_int_equal(link(f->path, mine), 0);
	assert_int_equal(link(f->path, other), 0);
	assert_int_equal(intent_remove(state_dir(f, dir), UUID, NULL), 0);
	assert_int_equal(access(f->path, F_OK), -1);
	assert_int_equal(access(mine, F_OK), -1);
	assert_int_equal(access(other, F_OK), 0);
}

int main(void)
{
#define WITH_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_DIRECTORY(what_is_written_is_read_back),
		WITH_DIRECTORY(a_large_log_is_read_back),
		WITH_DIRECTORY(only_root_may_read_it),
		WITH_DIRECTORY(no_log_is_no_error),
		WITH_DIRECTORY(a_kept_log_never_replaces_another),
		WITH_DIRECTORY(a_cut_log_is_damaged),
		WITH_DIRECTORY(a_changed_byte_is_noticed),
		WITH_DIRECTORY(an_edited_log_is_damaged),
		WITH_DIRECTORY(what_is_no_log_at_all_is_damaged),
		WITH_DIRECTORY(a_log_of_another_volume_is_damaged),
		WITH_DIRECTORY(a_place_that_cannot_be_written_is_named),
		WITH_DIRECTORY(nothing_is_left_beside_the_log),
		WITH_DIRECTORY(an_unfinished_log_is_removed_with_the_next),
	};

	srandom(5);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
