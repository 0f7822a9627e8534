/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is a state good? Asked of e2fsck, of the kernel, and of the program under test.
 */
#pragma once

#include "common.h"
#include "image.h"
#include "placement.h"
#include "sandbox.h"
#include "tree.h"

/* What is wrong with a state. The letters are the columns of the table. */
enum fault {
	FAULT_PREEN = 1 << 0,	     /* B: e2fsck -p wants a human (status above 1) */
	FAULT_INCONSISTENT = 1 << 1, /* C: e2fsck -p is content, e2fsck -fn is not */
	FAULT_RAW_REFUSED = 1 << 2,  /* D: the kernel does not mount it without e2fsck */
	FAULT_REFUSED = 1 << 3,	     /* E: nor after e2fsck -p */
	FAULT_OK_REFUSED = 1 << 4,   /* F: although e2fsck -p was content */
	FAULT_LOST = 1 << 5,	 /* G: good, but neither the old nor the new placement */
	FAULT_HOPELESS = 1 << 6, /* H: e2fsck -fy does not help either */
	FAULT_RAW_USE = 1 << 7,	 /* J: mounted without e2fsck and used: errors */
	FAULT_FILES = 1 << 8,	 /* K: a file is not as it was */
	FAULT_RESUME = 1 << 9,	 /* R: the program did not get it to the target */
	/* Only where the program was run with a fault, see inject.c: */
	FAULT_FALSE_SUCCESS = 1 << 10, /* S */
	FAULT_UNNAMED = 1 << 11,       /* N */
	FAULT_STATUS = 1 << 12,	       /* T */
};
#define N_FAULTS 13
#define N_STATE_FAULTS 10 /* without the last three */
#define FAULT_FALSE_SUCCESS_COLUMN 10
#define FAULT_LETTERS "BCDEFGHJKRSNT"

#define WAYS_MAX 8

/* One way in which an administrator goes on after the cut. */
struct way {
	enum way_when {
		WAY_CUT,  /* at once */
		WAY_BOOT, /* after e2fsck -p and a mount */
		WAY_RAW,  /* after a mount without e2fsck, and use */
	} when;
	bool lost;     /* the program's own records were lost */
	bool needed;   /* not to be tried in a state without records */
	bool back;     /* to the old placement, not to the new one */
	char *command; /* for sh -c */
};

/* A case: what is the same for all its states. Filled by subject_load(). */
struct subject {
	char *name, *fstype;
	char *command; /* that was recorded, for sh -c */
	struct way way[WAYS_MAX];
	unsigned int n_ways;
	unsigned int n_disks;
	const char *disk[SANDBOX_DISKS_MAX];
	struct image img[SANDBOX_DISKS_MAX];
	struct placement from, to;
};

/* How thorough one judgement is. */
struct judge_opts {
	bool mounts;	     /* and everything that needs a mount */
	bool brim;	     /* use every free block of the volume, not only 5 MB */
	uint32_t ways;	     /* a bit for each of subject->way[] that shall be tried */
	const char *records; /* directory with the program's own records, NULL: none */
};

/* A worker's place of work. */
struct bench {
	struct sandbox sandbox;
	struct subject *subject;
	const struct tree *files;
	int log_fd;	  /* what the commands said about the current state */
	char reason[256]; /* the first fault, in words */
};

#define BENCH_SECONDS 120 /* more than any program needs here */
#define BENCH_LOG SANDBOX_HOME "/judge.log"

/* subject_load() - reads DIR/case, DIR/V.img, DIR/J1.img ... */
void subject_load(struct subject *s, const char *dir);

/* bench_open() - enters a sandbox with the subject's disks. */
void bench_open(struct bench *b, struct subject *s);

/* bench_start() - begins the log of another state. */
void bench_start(struct bench *b);

/* bench_found() - notes in words what is wrong. Return: @fault. */
__attribute__((format(printf, 3, 4))) unsigned int bench_found(
	struct bench *b, unsigned int fault, const char *fmt, ...);

/* bench_keep_log() - copies the log of this state to @path, after a line of @title. */
void bench_keep_log(struct bench *b, const char *path, const char *title);

/* bench_store() - makes the disks equal to the subject's images. */
void bench_store(struct bench *b);
/* bench_capture() - makes the subject's images equal to the disks. */
void bench_capture(struct bench *b);

/* bench_placement() - reads the placement from the disks as they are. */
void bench_placement(struct bench *b, struct placement *p);

/* bench_files() - mounts the volume read-only and remembers its files. */
struct tree *bench_files(struct bench *b);

/* bench_run() - runs "sh -c @command"; Return: its status, 128 + signal, or 124 after
 * @seconds. */
int bench_run(struct bench *b, const char *command, unsigned int seconds);

/* bench_fsck() - e2fsck @how on the volume and its journal. Return: as bench_run(). */
int bench_fsck(struct bench *b, const char *how);

/* bench_mount() - mounts the volume with MS_* @flags. Return: 0 or errno. */
int bench_mount(struct bench *b, unsigned long flags);
int bench_unmount(struct bench *b);

/*
 * bench_recall() - makes /var/lib, where the program under test keeps its own records, a
 * copy of @directory, or empty if that is NULL; bench_remember() copies the other way.
 */
void bench_recall(struct bench *b, const char *directory);
void bench_remember(struct bench *b, const char *directory);

/*
 * bench_judge() - judges the state in the subject's images.
 * Return: faults; b->reason and BENCH_LOG say more.
 */
unsigned int bench_judge(struct bench *b, const struct judge_opts *o);

/* bench_finished() - Return: 0 if the volume on the disks as they are is whole and has
 * the placement @goal, else FAULT_RESUME and others. */
unsigned int bench_finished(
	struct bench *b, const struct placement *goal, bool may_have_more);

/* has_files() - Return: is there any regular file below that directory? */
bool has_files(const char *directory);

/* fault_letters() - writes e.g. "B..E......" into @text[N_FAULTS + 1]. */
void fault_letters(unsigned int faults, char *text);

/* fault_tolerated() - the faults of "--tolerate=DJ"; exits at a letter of none. */
unsigned int fault_tolerated(const char *letters);
