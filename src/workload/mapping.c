/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Files mapped into memory; see mapping.h.
 *
 * The handler of SIGBUS belongs to the process; it jumps back into the
 * copy of the thread that got the signal, and lets a thread that is in no copy die as it
 * would have.  Threads of the engine block all signals; one that is raised by the thread's
 * own access while it is blocked kills the process, so each thread that maps unblocks it.
 */

#include "workload/mapping.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static __thread sigjmp_buf *in_copy;

static void caught(int signal_number)
{
	if (in_copy)
		siglongjmp(*in_copy, 1);
	signal(signal_number, SIG_DFL); /* on return the access is tried again */
}

static void install(void)
{
	struct sigaction action = {.sa_handler = caught};

	sigaction(SIGBUS, &action, NULL);
}

static void unblock(void)
{
	sigset_t bus;

	sigemptyset(&bus);
	sigaddset(&bus, SIGBUS);
	pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
}

int mapping_open(struct mapping *m, int fd, uint64_t length, bool write, const char *path,
	struct err *e)
{
	void *bytes = mmap(NULL, length, PROT_READ | (write ? PROT_WRITE : 0), MAP_SHARED,
		fd, 0);

	if (bytes == MAP_FAILED)
		return err_set(e, errno, "map %s", path);
	*m = (struct mapping){.bytes = bytes, .length = length};
	install();
	unblock();
	return 0;
}

void mapping_close(struct mapping *m)
{
	if (m->bytes)
		munmap(m->bytes, m->length);
	m->bytes = NULL;
}

static bool copy(void *to, const void *from, size_t n)
{
	sigjmp_buf here;

	/* Without the mask, which would cost a system call for each copy. */
	if (sigsetjmp(here, 0)) {
		in_copy = NULL;
		unblock();
		return false;
	}
	in_copy = &here;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the copy stays between the two */
	memcpy(to, from, n);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	in_copy = NULL;
	return true;
}

bool mapping_read(const struct mapping *m, uint64_t at, void *to, size_t n)
{
	return copy(to, m->bytes + at, n);
}

bool mapping_write(const struct mapping *m, uint64_t at, const void *from, size_t n)
{
	return copy(m->bytes + at, from, n);
}

int mapping_sync(const struct mapping *m, uint64_t at, size_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGE_SIZE), first = at / page * page;

	return msync(m->bytes + first, at - first + n, MS_SYNC);
}
