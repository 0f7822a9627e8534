/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Giving up capabilities; see privilege.h.
 *
 * A process of root gets all of them again at each execve(2), up to its bounding set, so
 * that has to go as well.  Where it may not be lowered (a container without CAP_SETPCAP),
 * "no new privileges" has the same effect, and forbids set-user-ID programs, which lowering
 * the set does not: a command may use sudo.
 */

#include "core/privilege.h"

#include <errno.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/macros.h"

enum { CAPABILITIES_MAX = 64, WORD_BITS = 32 };

static int limit_bounding_set(uint64_t keep)
{
	for (unsigned c = 0; c < CAPABILITIES_MAX; c++) {
		int held = prctl(PR_CAPBSET_READ, c, 0, 0, 0);

		if (held < 0) /* this kernel has no more */
			break;
		if (held && !(keep >> c & 1) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0))
			return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ? -errno : 0;
	}
	return 0;
}

int privilege_limit(uint64_t keep)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	int r;

	if (keep == PRIVILEGE_ALL)
		return 0;
	if (syscall(SYS_capget, &head, data))
		return -errno;
	if (!data[0].permitted && !data[1].permitted)
		return 0;
	r = limit_bounding_set(keep);
	for (size_t i = 0; i < ARRAY_SIZE(data); i++) {
		uint32_t word = (uint32_t)(keep >> (i * WORD_BITS));

		data[i].permitted &= word;
		data[i].effective &= word;
		data[i].inheritable &= word;
	}
	/* Of this thread alone, as the kernel has it; the C library has no call for it. */
	if (!r && syscall(SYS_capset, &head, data))
		r = -errno;
	return r;
}
