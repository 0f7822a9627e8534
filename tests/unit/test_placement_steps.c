/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Steps on temporary files: carried out, undone, and found again from whatever point an
 * interruption left them at.
 */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "placement/steps.h"

#define FILE_BYTES 65536
#define PLACE 1024 /* bytes of each place that is written */

struct fixture {
	struct step_list list;
	struct step_devices devices;
	uint8_t old[STEP_DEVICES][FILE_BYTES]; /* content before the move */
};

static int temporary_file(void)
{
	char path[] = "/tmp/jbdlab-steps.XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	return fd;
}

static void put(const struct fixture *f, enum step_device d, uint64_t offset,
	const void *bytes, size_t n)
{
	assert_int_equal(pwrite(f->devices.fd[d], bytes, n, (off_t)offset), n);
}

static void get(const struct fixture *f, enum step_device d, uint64_t offset, void *bytes,
	size_t n)
{
	assert_int_equal(pread(f->devices.fd[d], bytes, n, (off_t)offset), n);
}

static void reset_files(const struct fixture *f)
{
	for (size_t d = 0; d < STEP_DEVICES; d++)
		put(f, d, 0, f->old[d], FILE_BYTES);
}

/* A write of PLACE times `fill` to place `place`, over `before` (-1: what is in the file;
 * -2: does not matter). */
static void add_write(struct fixture *f, enum step_device d, unsigned place, int fill,
	int before)
{
	uint8_t after[PLACE], was[PLACE];

	memset(after, fill, sizeof(after));
	if (before == -1)
		memcpy(was, f->old[d] + place * PLACE, PLACE);
	else
		memset(was, before, sizeof(was));
	assert_int_equal(step_list_write(&f->list, place * PLACE, after,
				 before == -2 ? NULL : was, PLACE, NULL), 0);
}

/* Shaped like a move to an inline journal: place 1 is the superblock, written by three
 * steps; place 5 is written twice by one step, as the superblock is at the end. */
static int set_up(void **state)
{
	static const char *const names[] = { "volume", "new", "old" };
	struct fixture *f = calloc(1, sizeof(*f));

	for (size_t d = 0; d < STEP_DEVICES; d++) {
		f->devices.fd[d] = temporary_file();
		f->devices.name[d] = names[d];
		for (size_t i = 0; i < FILE_BYTES; i++)
			f->old[d][i] = (uint8_t)random();
	}
	reset_files(f);
	step_list_add(&f->list, ON_NEW_JOURNAL, "new journal", NULL);
	add_write(f, ON_NEW_JOURNAL, 1, 0x10, -1);
	add_write(f, ON_NEW_JOURNAL, 7, 0x11, -2);
	step_list_add(&f->list, ON_VOLUME, "not clean", NULL);
	add_write(f, ON_VOLUME, 1, 0x21, -1);
	step_list_add(&f->list, ON_VOLUME, "SWITCH", NULL);
	step_list_mark_switch(&f->list);
	add_write(f, ON_VOLUME, 1, 0x22, 0x21);
	step_list_add(&f->list, ON_VOLUME, "checkpoint", NULL);
	add_write(f, ON_VOLUME, 3, 0x30, -1);
	add_write(f, ON_VOLUME, 4, 0x31, -1);
	step_list_add(&f->list, ON_VOLUME, "clean", NULL);
	add_write(f, ON_VOLUME, 1, 0x23, 0x22);
	add_write(f, ON_VOLUME, 5, 0x40, -1);
	add_write(f, ON_VOLUME, 5, 0x41, 0x40);
	step_list_add(&f->list, ON_OLD_JOURNAL, "release", NULL);
	add_write(f, ON_OLD_JOURNAL, 1, 0x50, -1);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	for (size_t d = 0; d < STEP_DEVICES; d++)
		close(f->devices.fd[d]);
	step_list_deinit(&f->list);
	free(f);
	return 0;
}

static size_t write_total(const struct step_list *l)
{
	size_t n = 0;

	for (size_t i = 0; i < l->count; i++)
		n += l->items[i].write_count;
	return n;
}

/* The first n writes of the list, and in the next one only `part` bytes. */
static void write_first(const struct fixture *f, size_t n, size_t part)
{
	for (size_t i = 0; i < f->list.count; i++)
		for (size_t k = 0; k < f->list.items[i].write_count; k++, n--) {
			const struct step *s = &f->list.items[i];
			const struct step_write *w = &s->writes[k];

			if (!n && part)
				put(f, s->device, w->offset, w->after, part);
			if (!n)
				return;
			put(f, s->device, w->offset, w->after, w->length);
		}
}

static void assert_all_old(const struct fixture *f)
{
	uint8_t now[FILE_BYTES];

	for (size_t d = 0; d < STEP_DEVICES; d++) {
		get(f, d, 0, now, FILE_BYTES);
		/* What nobody refers to need not come back. */
		if (d == ON_NEW_JOURNAL)
			memcpy(now + 7 * PLACE, f->old[d] + 7 * PLACE, PLACE);
		assert_memory_equal(now, f->old[d], FILE_BYTES);
	}
}

static void assert_place(const struct fixture *f, enum step_device d, unsigned place,
	int fill)
{
	uint8_t now[PLACE], wanted[PLACE];

	memset(wanted, fill, sizeof(wanted));
	get(f, d, place * PLACE, now, PLACE);
	assert_memory_equal(now, wanted, PLACE);
}

static void assert_all_new(const struct fixture *f)
{
	assert_place(f, ON_NEW_JOURNAL, 1, 0x10);
	assert_place(f, ON_NEW_JOURNAL, 7, 0x11);
	assert_place(f, ON_VOLUME, 1, 0x23);
	assert_place(f, ON_VOLUME, 3, 0x30);
	assert_place(f, ON_VOLUME, 4, 0x31);
	assert_place(f, ON_VOLUME, 5, 0x41);
	assert_place(f, ON_OLD_JOURNAL, 1, 0x50);
}

static enum step_position located(const struct fixture *f)
{
	enum step_position position;

	assert_int_equal(step_list_locate(&f->list, &f->devices, &position, NULL), 0);
	return position;
}

static void all_steps_are_carried_out_and_counted(void **state)
{
	struct fixture *f = *state;
	struct step_progress p = { 0 };

	assert_int_equal(step_list_switch(&f->list), 2);
	assert_int_equal(step_list_execute(&f->list, &f->devices, &p, NULL), 0);
	assert_all_new(f);
	assert_int_equal(p.next, f->list.count);
	assert_true(p.wrote);
	assert_int_equal(p.writes, write_total(&f->list));
	assert_int_equal(p.flushes, f->list.count);
	assert_int_equal(located(f), STEPS_AFTER_SWITCH);
}

static void execution_can_begin_anywhere(void **state)
{
	struct fixture *f = *state;

	for (size_t from = 0; from <= f->list.count; from++) {
		struct step_progress p = { .next = from };
		size_t before = 0;

		reset_files(f);
		for (size_t i = 0; i < from; i++)
			before += f->list.items[i].write_count;
		write_first(f, before, 0);
		assert_int_equal(step_list_execute(&f->list, &f->devices, &p, NULL), 0);
		assert_all_new(f);
	}
}

static void every_prefix_is_found_and_can_be_settled(void **state)
{
	struct fixture *f = *state;
	size_t total = write_total(&f->list), at_switch = step_list_switch(&f->list);

	for (size_t n = 0; n <= total; n++) {
		struct step_progress p = { .next = at_switch + 1 };
		/* Writes 0 to 2 come before the switch; the second is to free space. */
		enum step_position expected = n == 0 ? STEPS_NOT_BEGUN
			: n <= 3		     ? STEPS_BEFORE_SWITCH
						     : STEPS_AFTER_SWITCH;

		reset_files(f);
		write_first(f, n, 0);
		assert_int_equal(located(f), expected);
		if (expected == STEPS_AFTER_SWITCH) {
			assert_int_equal(step_list_execute(&f->list, &f->devices, &p, NULL),
				0);
			assert_all_new(f);
		} else {
			assert_int_equal(step_list_undo(&f->list, &f->devices, at_switch,
						 false, NULL), 0);
			assert_all_old(f);
		}
	}
}

static void writes_of_one_step_may_arrive_in_any_combination(void **state)
{
	struct fixture *f = *state;
	const struct step *checkpoint = &f->list.items[3], *clean = &f->list.items[4];

	for (unsigned mask = 0; mask < 4; mask++) {
		reset_files(f);
		write_first(f, 4, 0);
		for (unsigned k = 0; k < 2; k++)
			if (mask >> k & 1)
				put(f, ON_VOLUME, checkpoint->writes[k].offset,
					checkpoint->writes[k].after, PLACE);
		assert_int_equal(located(f), STEPS_AFTER_SWITCH);
	}
	for (unsigned mask = 0; mask < 8; mask++) {
		reset_files(f);
		write_first(f, 6, 0);
		for (unsigned k = 0; k < 3; k++)
			if (mask >> k & 1)
				put(f, ON_VOLUME, clean->writes[k].offset,
					clean->writes[k].after, PLACE);
		assert_int_equal(located(f), STEPS_AFTER_SWITCH);
	}
}

static void a_torn_write_is_foreign(void **state)
{
	struct fixture *f = *state;
	size_t total = write_total(&f->list);

	for (size_t n = 0; n < total; n++) {
		reset_files(f);
		write_first(f, n, 512);
		/* The second write goes to free space: nobody looks at it. */
		assert_int_equal(located(f),
			n == 1 ? STEPS_BEFORE_SWITCH : STEPS_FOREIGN);
	}
}

static void somebody_elses_write_anywhere_is_noticed(void **state)
{
	struct fixture *f = *state;
	static const struct {
		enum step_device device;
		unsigned place;
	} places[] = { { ON_NEW_JOURNAL, 1 }, { ON_VOLUME, 1 }, { ON_VOLUME, 3 },
		{ ON_VOLUME, 4 }, { ON_VOLUME, 5 }, { ON_OLD_JOURNAL, 1 } };

	for (size_t n = 0; n <= write_total(&f->list); n++)
		for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
			reset_files(f);
			write_first(f, n, 0);
			put(f, places[i].device, places[i].place * PLACE + 77, "foreign", 7);
			assert_int_equal(located(f), STEPS_FOREIGN);
		}
}

static void a_change_by_somebody_else_stops_before_the_switch(void **state)
{
	struct fixture *f = *state;
	static const struct {
		enum step_device device;
		unsigned place;
	} places[] = { { ON_VOLUME, 3 }, { ON_VOLUME, 4 }, { ON_VOLUME, 5 },
		{ ON_OLD_JOURNAL, 1 } };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		_cleanup_(err_clear) struct err e = { 0 };
		struct step_progress p = { 0 };
		uint8_t expected[FILE_BYTES], now[FILE_BYTES];

		reset_files(f);
		put(f, places[i].device, places[i].place * PLACE, "foreign", 7);
		get(f, ON_VOLUME, 0, expected, FILE_BYTES);
		assert_int_equal(step_list_execute(&f->list, &f->devices, &p, &e), -ESTALE);
		assert_non_null(strstr(err_message(&e), "changed by somebody else"));
		assert_int_equal(p.next, step_list_switch(&f->list));
		/* Undone, the other's change is still there and nothing of ours. */
		assert_int_equal(step_list_undo(&f->list, &f->devices, p.next + 1, true,
					 NULL), 0);
		get(f, ON_VOLUME, 0, now, FILE_BYTES);
		assert_memory_equal(now, expected, FILE_BYTES);
	}
}

/* The superblock, which we have written ourselves before somebody else did. */
static void a_change_of_what_was_written_already_stops_as_well(void **state)
{
	struct fixture *f = *state;
	struct step_progress p = { .next = 2 };
	uint8_t now[PLACE];

	write_first(f, 3, 0);
	put(f, ON_VOLUME, PLACE, "foreign", 7);
	assert_int_equal(step_list_execute(&f->list, &f->devices, &p, NULL), -ESTALE);
	assert_false(p.wrote);
	assert_int_equal(step_list_undo(&f->list, &f->devices, p.next + 1, true, NULL), 0);
	get(f, ON_VOLUME, PLACE, now, PLACE);
	assert_memory_equal(now, "foreign", 7);
	assert_int_equal(now[7], 0x21);
}

static void an_undo_of_everything_restores_the_first_content(void **state)
{
	struct fixture *f = *state;

	for (size_t n = 0; n <= write_total(&f->list); n++) {
		reset_files(f);
		write_first(f, n, n % 2 ? 300 : 0);
		assert_int_equal(step_list_undo(&f->list, &f->devices, f->list.count, false,
					 NULL), 0);
		assert_all_old(f);
	}
}

/* Before the switch nobody refers to the new journal: if its device is broken, the volume
 * is whole all the same. */
static void an_undo_does_without_a_broken_new_journal(void **state)
{
	struct fixture *f = *state;
	uint8_t now[FILE_BYTES];
	int fd = f->devices.fd[ON_NEW_JOURNAL];

	write_first(f, 3, 0);
	f->devices.fd[ON_NEW_JOURNAL] = -1;
	assert_int_equal(step_list_undo(&f->list, &f->devices, 2, false, NULL), 0);
	get(f, ON_VOLUME, 0, now, FILE_BYTES);
	assert_memory_equal(now, f->old[ON_VOLUME], FILE_BYTES);
	f->devices.fd[ON_NEW_JOURNAL] = fd;
}

static void an_undo_tells_of_a_broken_volume(void **state)
{
	struct fixture *f = *state;
	int fd = f->devices.fd[ON_VOLUME];

	f->devices.fd[ON_VOLUME] = -1;
	assert_int_equal(step_list_undo(&f->list, &f->devices, 2, false, NULL), -EBADF);
	f->devices.fd[ON_VOLUME] = fd;
}

/* When the size of a journal in use changes, it is the one that is referred to. */
static void an_undo_tells_of_a_broken_journal_in_use(void **state _unused_)
{
	struct step_devices devices = { .fd = { -1, -1, -1 }, .name = { "v", "n", "o" } };
	struct step_list l = { 0 };

	step_list_add(&l, ON_NEW_JOURNAL, "first", NULL);
	step_list_write(&l, 0, "a", "b", 1, NULL);
	step_list_add(&l, ON_NEW_JOURNAL, "SWITCH", NULL);
	step_list_write(&l, 1, "a", "b", 1, NULL);
	step_list_mark_switch(&l);
	assert_int_equal(step_list_undo(&l, &devices, 1, false, NULL), -EBADF);
	step_list_deinit(&l);
}

static void steps_of_absent_devices_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct step_progress p = { .next = 3 };
	uint8_t now[FILE_BYTES];

	f->devices.absent[ON_OLD_JOURNAL] = true;
	write_first(f, 4, 0);
	put(f, ON_OLD_JOURNAL, PLACE, "foreign", 7);
	assert_int_equal(located(f), STEPS_AFTER_SWITCH);
	assert_int_equal(step_list_execute(&f->list, &f->devices, &p, NULL), 0);
	assert_place(f, ON_VOLUME, 1, 0x23);
	get(f, ON_OLD_JOURNAL, PLACE, now, 7);
	assert_memory_equal(now, "foreign", 7);
	assert_int_equal(step_list_flush(&f->list, &f->devices, NULL), 0);
	reset_files(f);
	f->devices.absent[ON_NEW_JOURNAL] = true;
	write_first(f, 2, 0);
	assert_int_equal(located(f), STEPS_NOT_BEGUN);
	write_first(f, 3, 0);
	assert_int_equal(located(f), STEPS_BEFORE_SWITCH);
}

/* What is loose is undone, but says nothing about where the disks are. */
static void loose_writes_are_no_evidence(void **state)
{
	struct fixture *f = *state;
	struct step_list l = { 0 };
	enum step_position position;
	uint8_t zeros[8] = { 0 }, now[8];

	assert_int_equal(step_list_add(&l, ON_NEW_JOURNAL, "wipe", NULL), 0);
	assert_int_equal(step_list_write(&l, 100, zeros, f->old[ON_NEW_JOURNAL] + 100, 8,
				 NULL), 0);
	step_list_mark_loose(&l);
	put(f, ON_NEW_JOURNAL, 100, "foreign!", 8);
	assert_int_equal(step_list_locate(&l, &f->devices, &position, NULL), 0);
	assert_int_equal(position, STEPS_NOT_BEGUN);
	assert_int_equal(step_list_undo(&l, &f->devices, 1, false, NULL), 0);
	get(f, ON_NEW_JOURNAL, 100, now, 8);
	assert_memory_equal(now, f->old[ON_NEW_JOURNAL] + 100, 8);
	step_list_deinit(&l);
}

static void a_list_without_a_switch_ends_behind_its_last_step(void **state _unused_)
{
	struct step_list l = { 0 };

	assert_int_equal(step_list_switch(&l), 0);
	assert_int_equal(step_list_add(&l, ON_VOLUME, "x", NULL), 0);
	assert_int_equal(step_list_switch(&l), 1);
	step_list_deinit(&l);
}

/* The last step's device is gone: the look before the switch finds it out. */
static void a_device_that_is_gone_is_found_before_the_switch(void **state)
{
	struct fixture *f = *state;
	_cleanup_(err_clear) struct err e = { 0 };
	struct step_progress p = { 0 };
	int fd = f->devices.fd[ON_OLD_JOURNAL];

	f->devices.fd[ON_OLD_JOURNAL] = -1;
	assert_int_equal(step_list_execute(&f->list, &f->devices, &p, &e), -EBADF);
	assert_int_equal(p.next, step_list_switch(&f->list));
	assert_non_null(strstr(err_message(&e), "old"));
	f->devices.fd[ON_OLD_JOURNAL] = fd;
}

static void an_error_tells_how_far_it_came(void **state)
{
	struct fixture *f = *state;
	_cleanup_(err_clear) struct err e = { 0 };
	struct step_progress p = { .next = 3 };
	int fd = f->devices.fd[ON_OLD_JOURNAL];

	write_first(f, 4, 0);
	f->devices.fd[ON_OLD_JOURNAL] = -1;
	assert_int_equal(step_list_execute(&f->list, &f->devices, &p, &e), -EBADF);
	f->devices.fd[ON_OLD_JOURNAL] = fd;
	assert_int_equal(p.next, f->list.count - 1);
	assert_non_null(strstr(err_message(&e), "release: write old"));
	assert_int_equal(step_list_execute(&f->list, &f->devices, &p, NULL), 0);
	assert_all_new(f);
}

int main(void)
{
#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_FILES(all_steps_are_carried_out_and_counted),
		WITH_FILES(execution_can_begin_anywhere),
		WITH_FILES(every_prefix_is_found_and_can_be_settled),
		WITH_FILES(writes_of_one_step_may_arrive_in_any_combination),
		WITH_FILES(a_torn_write_is_foreign),
		WITH_FILES(somebody_elses_write_anywhere_is_noticed),
		WITH_FILES(a_change_by_somebody_else_stops_before_the_switch),
		WITH_FILES(a_change_of_what_was_written_already_stops_as_well),
		WITH_FILES(an_undo_of_everything_restores_the_first_content),
		WITH_FILES(an_undo_does_without_a_broken_new_journal),
		WITH_FILES(an_undo_tells_of_a_broken_volume),
		cmocka_unit_test(an_undo_tells_of_a_broken_journal_in_use),
		WITH_FILES(steps_of_absent_devices_are_left_out),
		WITH_FILES(loose_writes_are_no_evidence),
		cmocka_unit_test(a_list_without_a_switch_ends_behind_its_last_step),
		WITH_FILES(a_device_that_is_gone_is_found_before_the_switch),
		WITH_FILES(an_error_tells_how_far_it_came),
	};

	srandom(4);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
