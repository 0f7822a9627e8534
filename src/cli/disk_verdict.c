/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * What jbdlab may do with a disk; see disk_verdict.h.
 *
 * The questions are those that stand before every write, in the same order and by the same
 * functions, so that the answer is what a run would do.
 */

#include "cli/disk_verdict.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "device/claim.h"
#include "device/signature.h"
#include "placement/journal_users.h"
#include "scratch/lease.h"
#include "scratch/loopdisk.h"
#include "scratch/system_disks.h"

static const char *const words[] = {
	[DISK_SYSTEM] = "system",
	[DISK_IN_USE] = "in use",
	[DISK_READ_ONLY] = "read-only",
	[DISK_SCRATCH] = "scratch",
	[DISK_LEASED] = "leased",
	[DISK_DATA] = "data",
	[DISK_FREE] = "free",
	[DISK_UNIDENTIFIED] = "unidentified",
	[DISK_UNKNOWN] = "unknown",
};

const char *disk_verdict_word(enum disk_verdict verdict)
{
	return words[verdict];
}

bool disk_may_be_overwritten(const struct disk_judgement *j)
{
	return j->verdict == DISK_SCRATCH || j->verdict == DISK_LEASED;
}

/* Messages begin with the path, which the reader sees beside them. */
static void conclude(struct disk_judgement *j, const char *path, enum disk_verdict verdict,
	const char *reason)
{
	size_t n = strlen(path);

	if (!strncmp(reason, path, n) && reason[n] == ' ')
		reason += n + 1;
	j->verdict = verdict;
	free(j->reason);
	j->reason = strdup(reason);
}

static int read_content(struct disk_judgement *j, const struct claim *claim, bool *empty,
	struct err *e)
{
	_cleanup_(signature_list_deinit) struct signature_list list = {0};
	int r = signature_list_read(&list, claim_fd(claim), claim_path(claim), e);

	if (r)
		return r;
	*empty = !list.count;
	j->content = signature_list_describe(&list);
	return j->content ? 0 : err_set(e, ENOMEM, "look at %s", claim_path(claim));
}

/* Nobody has it: is it somebody's all the same, and was it leased? */
static void judge_claimed(struct disk_judgement *j, const char *path, const struct claim *claim)
{
	_cleanup_free_ char *users = journal_users_of(claim_fd(claim), path, NULL);
	_cleanup_free_ char *identity = NULL, *text = NULL;
	_cleanup_(err_clear) struct err e = {0}, other = {0};
	bool empty = false;

	if (read_content(j, claim, &empty, &e))
		conclude(j, path, DISK_UNKNOWN, err_message(&e));
	else if (users && asprintf(&text, "is the journal of %s", users) >= 0)
		conclude(j, path, DISK_IN_USE, text);
	else if (scratch_is_ours(path))
		conclude(j, path, DISK_SCRATCH, "made by \"jbdlab scratch create\" or a run");
	else if (!lease_require_overwrite(claim, &e))
		conclude(j, path, DISK_LEASED, "experiments may overwrite it");
	else if (lease_identity(claim, &identity, &other))
		conclude(j, path, DISK_UNIDENTIFIED, err_message(&other));
	else if (empty)
		conclude(j, path, DISK_FREE, err_message(&e));
	else if (asprintf(&text, "carries %s, and %s", j->content,
			 strncmp(err_message(&e), path, strlen(path))
				 ? err_message(&e)
				 : err_message(&e) + strlen(path) + 1) >= 0)
		conclude(j, path, DISK_DATA, text);
}

/* That needs no right to open it. */
static bool is_of_system(const char *path, struct err *e)
{
	_cleanup_(device_identity_deinit) struct device_identity id = {.is_block = true};
	struct stat st;

	if (stat(path, &st) || !S_ISBLK(st.st_mode))
		return false;
	id.devno = st.st_rdev;
	id.path = strdup(path);
	device_identity_read_sysfs(&id, "/sys", st.st_rdev);
	return id.path && system_disks_refuse(&id, e);
}

static void judge(struct disk_judgement *j, const char *path, bool hold)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	_cleanup_(err_clear) struct err e = {0}, other = {0};
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int r = fd < 0 ? err_set(&e, errno, "cannot be opened")
		       : device_identity_read(&j->identity, fd, path, &e);

	if (r && is_of_system(path, &other))
		conclude(j, path, DISK_SYSTEM, err_message(&other));
	else if (r)
		conclude(j, path, DISK_UNKNOWN, err_message(&e));
	else if (!j->identity.is_block)
		conclude(j, path, DISK_UNKNOWN, "is a file and no disk");
	else if (system_disks_refuse(&j->identity, &e))
		conclude(j, path, DISK_SYSTEM, err_message(&e));
	else if (hold ? claim_take(&claim, path, false, &e) : claim_look(&claim, path, &e))
		conclude(j, path, e.kind == ERR_REFUSED ? DISK_IN_USE : DISK_UNKNOWN,
			err_message(&e));
	else if (j->identity.read_only)
		conclude(j, path, DISK_READ_ONLY, "cannot be written");
	else
		judge_claimed(j, path, claim);
}

int disk_judge(struct disk_judgement *j, const char *path, bool hold, struct err *e)
{
	*j = (struct disk_judgement){.verdict = DISK_UNKNOWN};
	judge(j, path, hold);
	if (j->reason)
		return 0;
	disk_judgement_deinit(j);
	return err_set(e, ENOMEM, "look at %s", path);
}

void disk_judgement_deinit(struct disk_judgement *j)
{
	device_identity_deinit(&j->identity);
	free(j->reason);
	free(j->content);
	*j = (struct disk_judgement){.verdict = DISK_UNKNOWN};
}
