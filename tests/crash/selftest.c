/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Holds states.c and image.c against traces that are small enough to write their states
 * down: a model that forgot states would make every program look safe.
 *
 * Two devices of 64 KiB; operations are given as a string such as "w0.4096.512=a s0":
 * write 512 bytes of 'a' at byte 4096 of device 0, flush device 0. z zeroes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "states.h"

#define DISK_BYTES 65536
#define OPS_MAX 64

static unsigned int failed;

struct fixture {
	struct image img[2];
	struct trace trace;
	struct traced_op op[OPS_MAX];
	struct states states;
};

static void check(bool ok, const char *what)
{
	printf("%s: %s\n", ok ? "ok" : "FAILED", what);
	failed += !ok;
}

static void add_op(struct trace *t, const char *text)
{
	struct traced_op *op = &t->op[t->n++];
	unsigned int device, offset = 0, bytes = 0;
	char kind, fill = 0;
	uint8_t *data;

	if (sscanf(text, "%c%u.%u.%u=%c", &kind, &device, &offset, &bytes, &fill) < 2)
		die("'%s' is no operation", text);
	*op = (struct traced_op){.device = device, .offset = offset, .bytes = bytes};
	op->number = t->n;
	op->kind = kind == 's' ? TRACE_SYNC : kind == 'z' ? TRACE_ZERO : TRACE_WRITE;
	if (op->kind == TRACE_WRITE) {
		data = xcalloc(bytes, 1);
		memset(data, fill, bytes);
		op->data = data;
	}
}

/* Both devices hold 'o' (old) in their first 32 KiB, zeroes in the rest. */
static void make_disk(struct image *img)
{
	int fd = memfd_create("disk", MFD_CLOEXEC);
	uint8_t old[DISK_BYTES / 2];
	char *path;

	memset(old, 'o', sizeof(old));
	if (fd < 0 || ftruncate(fd, DISK_BYTES) || write(fd, old, sizeof(old)) < 0)
		die_errno("make a disk");
	path = xasprintf("/proc/self/fd/%d", fd);
	image_load(img, path);
	free(path);
	close(fd);
}

static void build(struct fixture *f, const char *ops, enum model model, uint32_t cap)
{
	struct states_opts o = {.seed = 1, .cap = cap};
	char *copy = xasprintf("%s", ops), *rest = copy, *word;

	o.wanted[model] = true;
	memset(f, 0, sizeof(*f));
	f->trace.op = f->op;
	while ((word = strsep(&rest, " ")))
		add_op(&f->trace, word);
	free(copy);
	for (int i = 0; i < 2; i++)
		make_disk(&f->img[i]);
	states_build(&f->states, &f->trace, f->img, &o);
}

static void clear(struct fixture *f)
{
	for (uint32_t i = 0; i < f->trace.n; i++)
		free((void *)f->op[i].data);
	for (int i = 0; i < 2; i++)
		image_free(&f->img[i]);
	states_free(&f->states);
}

/* Is there a state with these bytes at these places ("0.4096=a 1.0=o")? */
static bool has_state(struct fixture *f, const char *wanted)
{
	for (uint32_t i = 0; i < f->states.n; i++) {
		const char *at = wanted;
		unsigned int device, offset;
		bool same = true;
		int used;
		char byte;

		state_make(&f->states.state[i], &f->trace, f->img);
		while (sscanf(at, " %u.%u=%c%n", &device, &offset, &byte, &used) == 3) {
			if (byte == '0')
				byte = 0;
			same = same && f->img[device].now[offset] == (uint8_t)byte;
			at += used;
		}
		if (same)
			return true;
	}
	return false;
}

static void expect(const char *what, const char *ops, enum model model, uint32_t n,
	const char *const *there, const char *const *not_there)
{
	struct fixture f;
	char *text;

	build(&f, ops, model, 300);
	text = xasprintf("%s: %u states, %u expected", what, f.states.n, n);
	check(f.states.n == n, text);
	free(text);
	for (; *there; there++) {
		text = xasprintf("%s: %s occurs", what, *there);
		check(has_state(&f, *there), text);
		free(text);
	}
	for (; *not_there; not_there++) {
		text = xasprintf("%s: %s does not occur", what, *not_there);
		check(!has_state(&f, *not_there), text);
		free(text);
	}
	clear(&f);
}

#define LIST(...)                                                                        \
	(const char *const[])                                                            \
	{                                                                                \
		__VA_ARGS__, NULL                                                        \
	}
#define NONE                                                                             \
	(const char *const[])                                                            \
	{                                                                                \
		NULL                                                                     \
	}

static void test_kill(void)
{
	expect("kill: prefixes in order", "w0.0.512=a w1.0.512=b s1 w0.4096.512=c",
		MODEL_KILL, 4,
		LIST("0.0=a 1.0=o", "0.0=a 1.0=b 0.4096=o", "0.0=a 0.4096=c"),
		LIST("0.0=o 1.0=b", "1.0=o 0.4096=c"));
	expect("kill: a write is cut between pages only", "w0.0.12288=a", MODEL_KILL, 4,
		LIST("0.4095=a 0.4096=o", "0.8191=a 0.8192=o"), LIST("0.0=a 0.512=o"));
}

static void test_power(void)
{
	expect("power: any subset of what is not flushed", "w0.0.512=a w0.4096.512=b",
		MODEL_P4096, 4, LIST("0.0=o 0.4096=b", "0.0=a 0.4096=o"), NONE);
	expect("power: a flush orders", "w0.0.512=a s0 w0.4096.512=b", MODEL_P4096, 3,
		LIST("0.0=a 0.4096=o"), LIST("0.0=o 0.4096=b"));
	expect("power: a flush of the other device does not",
		"w0.0.512=a s1 w0.4096.512=b", MODEL_P4096, 4, LIST("0.0=o 0.4096=b"),
		NONE);
	expect("power: devices are independent",
		"w0.0.512=a w1.0.512=b s1 w1.4096.512=c s1 s0", MODEL_P4096, 6,
		LIST("0.0=o 1.0=b 1.4096=c", "0.0=a 1.0=o"), LIST("1.0=o 1.4096=c"));
	expect("power: older contents of a page", "w0.0.512=a w0.0.512=b w0.4096.512=c",
		MODEL_P4096, 6, LIST("0.0=a 0.4096=c", "0.0=b 0.4096=o"), NONE);
	expect("power: a page is written whole", "w0.0.512=a w0.512.512=b", MODEL_P4096,
		3, LIST("0.0=a 0.512=o"), LIST("0.0=o 0.512=b"));
	expect("power: zeroes over zeroes are nothing new", "w0.0.512=a z0.40960.8192",
		MODEL_P4096, 2, LIST("0.0=a 0.40960=0"), NONE);
	expect("power: zeroing is pending like a write", "z0.0.8192", MODEL_P4096, 4,
		LIST("0.0=0 0.4096=o", "0.0=o 0.4096=0"), NONE);
}

static void test_torn(void)
{
	expect("torn: sectors are independent", "w0.0.1024=a", MODEL_P512, 4,
		LIST("0.0=a 0.512=o", "0.0=o 0.512=a"), LIST("0.0=a 0.1=o"));
}

/* 20 pages: more combinations than the cap; each page alone, each page missing. */
static void test_sample(void)
{
	struct fixture f;
	bool alone = true, missing = true;

	build(&f, "w0.0.32768=a w1.0.32768=b s0 s1", MODEL_P4096, 100);
	check(f.states.sampled > 0, "sample: above the cap a sample is taken");
	check(f.states.n >= 34 && f.states.n <= 300, "sample: of about the cap");
	for (unsigned int p = 0; p < 8; p++) {
		char text[64];

		snprintf(text, sizeof(text), "0.%u=a 0.%u=o 1.0=o 1.28672=o", p * 4096,
			(p + 1) % 8 * 4096);
		alone = alone && has_state(&f, text);
		snprintf(text, sizeof(text), "0.%u=o 0.%u=a 1.0=b 1.28672=b", p * 4096,
			(p + 1) % 8 * 4096);
		missing = missing && has_state(&f, text);
	}
	check(alone, "sample: each page alone");
	check(missing, "sample: each page missing");
	clear(&f);
}

static void test_store(void)
{
	int fd = memfd_create("disk", MFD_CLOEXEC);
	uint8_t data[4096], zero[4096] = {0};
	struct image img;

	make_disk(&img);
	if (fd < 0 || ftruncate(fd, DISK_BYTES))
		die_errno("make a disk");
	memset(data, 'x', sizeof(data));
	image_store(&img, fd);
	check(pread(fd, data, 4096, 4096) == 4096 && data[0] == 'o',
		"store: writes what is there");
	memset(data, 'x', sizeof(data));
	if (pwrite(fd, data, 4096, 40960) != 4096 || pwrite(fd, data, 4096, 0) != 4096)
		die_errno("write");
	image_capture(&img, fd);
	check(img.now[0] == 'x' && img.now[40960] == 'x', "capture: sees what changed");
	image_reset(&img);
	image_store(&img, fd);
	check(pread(fd, data, 4096, 40960) == 4096 && !memcmp(data, zero, 4096),
		"store: empties what should be empty");
	check(pread(fd, data, 4096, 0) == 4096 && data[0] == 'o',
		"store: restores what changed");
	close(fd);
	image_free(&img);
}

int main(void)
{
	test_kill();
	test_power();
	test_torn();
	test_sample();
	test_store();
	return failed ? 1 : 0;
}
