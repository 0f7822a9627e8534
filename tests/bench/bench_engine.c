/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What measuring costs.  Page-cached 4 KiB reads of one file, by a bare loop of pread(2)
 * without any measuring, by the engine with its histograms, and by fio's psync where fio is
 * there, in turn, for one thread and for two.  Then how far 512 threads start apart, and
 * what the engine needs of memory.  Prints each figure, its peer, the ratio (medians over
 * rounds), the goal and whether it is reached: pass, miss, or limit, where the bare loop,
 * less what the engine may cost, does not reach what is demanded beside fio.
 *
 * usage: bench_engine [DIR [ROUNDS]]; status 1 when a goal is missed.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <jansson.h>

#include "core/clock.h"
#include "stats/order.h"
#include "workload/blockio.h"

enum { BLOCK = 4096, BLOCKS = 65536, OPERATIONS = 200000, ROUNDS_MAX = 101 };
enum { START_THREADS = 512 };

#define LEAST_OF_BARE 0.93
#define LEAST_OF_FIO 1.3
#define START_MS_MOST 10.
#define MEMORY_MIB_MOST (40 + START_THREADS * .25)

static bool missed;

/* Operations per second of wall time, and per second of CPU. */
struct speed {
	double wall, cpu;
};

struct bare {
	const char *path;
	const struct blockio *b;
	unsigned index;
	pthread_barrier_t *barrier;
	uint64_t ended_ns;
	bool failed;
};

/* The same reads at the same places as the engine's thread makes. */
static void *bare_thread(void *data)
{
	struct bare *t = data;
	int fd = open(t->path, O_RDONLY | O_CLOEXEC);
	char *buffer = aligned_alloc(BLOCK, BLOCK);
	uint64_t n = blockio_share(t->b, t->index);
	struct random r;

	random_init(&r, t->index);
	if (buffer)
		memset(buffer, 1, BLOCK);
	pthread_barrier_wait(t->barrier);
	for (uint64_t i = 0; i < n && !t->failed; i++) {
		uint64_t block = t->b->random ? random_below(&r, BLOCKS) : i;

		t->failed = pread(fd, buffer, BLOCK, (off_t)(block * BLOCK)) != BLOCK;
	}
	t->ended_ns = clock_now_ns();
	free(buffer);
	close(fd);
	return NULL;
}

static double cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e9 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e3;
}

static struct speed bare_rate(const struct blockio *b)
{
	struct bare threads[8];
	pthread_t ids[8];
	pthread_barrier_t barrier;
	uint64_t begun_ns, ended_ns = 0;
	double cpu = cpu_ns(), n = (double)b->operations;

	pthread_barrier_init(&barrier, NULL, b->threads + 1);
	for (unsigned i = 0; i < b->threads; i++) {
		threads[i] = (struct bare){ .path = b->files->paths[i], .b = b, .index = i,
			.barrier = &barrier };
		if (pthread_create(&ids[i], NULL, bare_thread, &threads[i]))
			exit(2);
	}
	/* As in the engine: all are ready and wait when they are released. */
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	begun_ns = clock_now_ns();
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < b->threads; i++) {
		pthread_join(ids[i], NULL);
		if (threads[i].failed)
			exit(2);
		ended_ns = MAX(ended_ns, threads[i].ended_ns);
	}
	pthread_barrier_destroy(&barrier);
	return (struct speed){ n * 1e9 / (double)(ended_ns - begun_ns),
		n * 1e9 / (cpu_ns() - cpu) };
}

static struct speed engine_rate(const struct blockio *b)
{
	static struct engine_outcome o;
	struct workload_env env = { 0 };
	struct err e = { 0 };
	double n;

	engine_outcome_init(&o);
	if (blockio_run(b, "bench", false, &env, &o, &e)) {
		fprintf(stderr, "%s\n", err_message(&e));
		exit(2);
	}
	n = (double)o.counters.operations;
	return (struct speed){ n * 1e9 / (double)o.counters.wall_ns,
		n * 1e9 / (double)(o.counters.user_ns + o.counters.system_ns) };
}

/* The same by fio; 0: there is no fio. */
static double fio_rate(const struct blockio *b)
{
	char command[512];
	json_t *json;
	double rate;
	FILE *fio;

	snprintf(command, sizeof(command),
		"fio --name=job --filename=%s --rw=%s --norandommap --bs=4k --size=%uk "
		"--io_size=%uk --ioengine=psync --invalidate=0 --thread --numjobs=%u "
		"--group_reporting --output-format=json 2>/dev/null",
		b->files->paths[0], b->random ? "randread" : "read", BLOCKS * 4,
		OPERATIONS * 4, b->threads);
	fio = popen(command, "r");
	json = fio ? json_loadf(fio, 0, NULL) : NULL;
	rate = json_number_value(json_object_get(
		json_object_get(json_array_get(json_object_get(json, "jobs"), 0), "read"),
		"iops"));
	json_decref(json);
	if (fio)
		pclose(fio);
	return rate;
}

static void print_row(const char *figure, unsigned threads, double ours, const char *peer,
	double theirs, double ratio, double least, bool reachable)
{
	bool pass = ratio >= least;

	printf("%-17s %3u %11.0f %11.0f %-5s %7.3f  >= %-5g  %s\n", figure, threads, ours,
		theirs, peer, ratio, least, pass ? "pass" : reachable ? "miss" : "limit");
	fflush(stdout);
	missed = missed || (!pass && reachable);
}

static void compare(const struct files *files, unsigned threads, bool random,
	unsigned rounds)
{
	struct blockio b = { .files = files, .block_bytes = BLOCK, .file_blocks = BLOCKS,
		.operations = random ? OPERATIONS : (uint64_t)BLOCKS * threads,
		.threads = threads, .random = random };
	double bare[ROUNDS_MAX], engine[ROUNDS_MAX], fio[ROUNDS_MAX];
	double of_bare[ROUNDS_MAX], of_fio[ROUNDS_MAX], cpu[ROUNDS_MAX];
	double bare_of_fio[ROUNDS_MAX];
	const char *figure = random ? "cached-random" : "cached-sequential";

	bare_rate(&b);
	engine_rate(&b);
	for (unsigned i = 0; i < rounds; i++) {
		struct speed x, y;

		fio[i] = fio_rate(&b);
		if (i % 2) {
			y = engine_rate(&b);
			x = bare_rate(&b);
		} else {
			x = bare_rate(&b);
			y = engine_rate(&b);
		}
		bare[i] = x.wall;
		engine[i] = y.wall;
		of_bare[i] = y.wall / x.wall;
		cpu[i] = y.cpu / x.cpu;
		of_fio[i] = fio[i] > 0 ? y.wall / fio[i] : 0;
		bare_of_fio[i] = fio[i] > 0 ? x.wall / fio[i] : 0;
	}
	print_row(figure, threads, order_median(engine, rounds), "bare",
		order_median(bare, rounds), order_median(of_bare, rounds), LEAST_OF_BARE, true);
	printf("%-17s %3u %31s CPU  %7.3f\n", figure, threads, "", order_median(cpu, rounds));
	if (order_median(fio, rounds) > 0)
		print_row(figure, threads, order_median(engine, rounds), "fio",
			order_median(fio, rounds), order_median(of_fio, rounds),
			LEAST_OF_FIO,
			order_median(bare_of_fio, rounds) * LEAST_OF_BARE >= LEAST_OF_FIO);
}

static int nap(struct engine_thread *t, struct err *e _unused_)
{
	nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	engine_done(t, 0);
	return 0;
}

static void print_most(const char *figure, double value, const char *unit, double most)
{
	printf("%-17s %3u %11.1f %-3s %22s  <= %-5g  %s\n", figure, START_THREADS, value, unit,
		"", most, value <= most ? "pass" : "miss");
	missed = missed || value > most;
}

static void show_start(unsigned rounds)
{
	static const struct engine_ops ops = { .thread = nap };
	struct engine_job job = { .ops = &ops, .title = "start",
		.threads = START_THREADS };
	struct workload_env env = { 0 };
	static struct engine_outcome o;
	double spread[ROUNDS_MAX];
	struct rusage u;

	for (unsigned i = 0; i < rounds; i++) {
		struct err e = { 0 };

		engine_outcome_init(&o);
		if (engine_run(&job, &env, &o, &e))
			exit(2);
		spread[i] = (double)o.start_spread_ns;
	}
	print_most("start", order_median(spread, rounds) / 1e6, "ms", START_MS_MOST);
	getrusage(RUSAGE_SELF, &u);
	print_most("memory", (double)u.ru_maxrss / 1024, "MiB", MEMORY_MIB_MOST);
}

/* Two files, written and so in the page cache. */
static void make_files(const struct files *files)
{
	static char chunk[1 << 20];

	memset(chunk, 7, sizeof(chunk));
	for (size_t i = 0; i < files->count; i++) {
		int fd = open(files->paths[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

		for (size_t at = 0; at < (size_t)BLOCK * BLOCKS; at += sizeof(chunk))
			if (write(fd, chunk, sizeof(chunk)) != sizeof(chunk)) {
				perror(files->paths[i]);
				exit(2);
			}
		fsync(fd);
		close(fd);
	}
}

int main(int argc, char **argv)
{
	const char *directory = argc > 1 ? argv[1] : "/tmp";
	unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 9;
	struct workload_env env = { .directories = &directory, .directory_count = 1 };
	_cleanup_(files_freep) struct files *files = NULL;
	struct err e = { 0 };

	if (!rounds || rounds > ROUNDS_MAX || files_new(&files, &env, "bench", 2, &e))
		return 2;
	make_files(files);
	printf("%-17s %3s %11s %11s %-5s %7s  goal\n", "figure", "thr", "ours", "peer", "",
		"ratio");
	for (unsigned threads = 1; threads <= 2; threads++)
		for (int random = 0; random < 2; random++)
			compare(files, threads, random, rounds);
	show_start(rounds);
	return missed;
}
