/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * "jbdlab scratch lease DEV": says what the disk is and what is on it, and wants its
 * serial number typed.  A "y" is typed too easily, and a name like /dev/sdb is another
 * disk after the next boot; somebody who types the serial number has looked.
 */

#include "cli/scratch_lease.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/units.h"
#include "device/claim.h"
#include "device/find.h"
#include "device/signature.h"
#include "placement/journal_users.h"
#include "run/locks.h"
#include "scratch/lease.h"
#include "scratch/lease_list.h"
#include "scratch/loopdisk.h"

/* An experiment holds its devices only now and then; its lock stays.  Asked for first, as
 * holding the device could come in the way of one of its steps. */
static int refuse_experiment(const char *path, struct err *e)
{
	_cleanup_(device_identity_deinit) struct device_identity id = { 0 };
	_cleanup_(locks_release) struct locks locks = { 0 };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0 || device_identity_read(&id, fd, path, NULL) || !id.is_block)
		return 0; /* for claim_take() to say */
	return locks_take(&locks, &id, false, e);
}

static int hold(struct claim **claim, const char *spec, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r = geteuid() ? err_refuse(e, "leases are root's to give and to take back") : 0;

	if (!r)
		r = device_find(spec, &path, e);
	if (!r)
		r = refuse_experiment(path, e);
	return r ? r : claim_take(claim, path, true, e);
}

static int describe(const struct log *log, const struct claim *claim, const char *identity,
	struct err *e)
{
	const struct device_identity *id = claim_identity(claim);
	_cleanup_(signature_list_deinit) struct signature_list list = { 0 };
	_cleanup_free_ char *content = NULL;
	char size[16];
	int r = signature_list_read(&list, claim_fd(claim), id->path, e);

	if (r)
		return r;
	content = signature_list_describe(&list);
	if (!content)
		return err_set(e, ENOMEM, "describe %s", id->path);
	units_format_bytes(id->size_bytes, size);
	log_line(log, LOG_NOTE, "%s: %s%s%s", id->path, id->model ? id->model : "",
		id->model ? ", " : "", size);
	log_line(log, LOG_NOTE, "identity: %s", identity);
	log_line(log, LOG_NOTE, "on it: %s", content);
	return 0;
}

/* Asks on the terminal; the answer without white space around it. */
static int ask(const struct claim *claim, char *answer, size_t room, struct err *e)
{
	const struct device_identity *id = claim_identity(claim);
	char *start = answer, *end;

	fprintf(stderr,
		"A lease allows jbdlab to overwrite everything on %s.\n"
		"Type its %s: ",
		id->path, id->serial ? "serial number" : "identity's last eight characters");
	if (!fgets(answer, (int)room, stdin))
		return err_refuse(e, "nothing was typed: %s is not leased", id->path);
	start += strspn(start, " \t\r\n");
	end = start + strlen(start);
	while (end > start && strchr(" \t\r\n", end[-1]))
		*--end = '\0';
	memmove(answer, start, strlen(start) + 1);
	return 0;
}

static int word_of(struct cli *cli, const struct claim *claim, const char *serial,
	char *word, size_t room, struct err *e)
{
	if (serial && !cli_yes(cli))
		return err_usage(e, "--serial is for scripts and needs --yes; without it the "
				    "serial number is asked for");
	if (serial && strlen(serial) < room) {
		strcpy(word, serial);
		return 0;
	}
	if (serial)
		return err_usage(e, "\"%s\" is no serial number", serial);
	if (!isatty(STDIN_FILENO))
		return err_refuse(e, "a lease is typed on a terminal, or given with --yes and "
				     "--serial");
	return ask(claim, word, room, e);
}

/* The journal of a connected volume is a part of that volume, mounted or not. */
static int refuse_live_journal(const struct claim *claim, struct err *e)
{
	_cleanup_free_ char *users = journal_users_of(claim_fd(claim), claim_path(claim), NULL);

	return users ? err_refuse(e,
			       "%s is the journal of %s, which does not mount without it; move "
			       "that journal away first",
			       claim_path(claim), users)
		     : 0;
}

int scratch_lease(struct cli *cli, const char *device, const char *serial, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	_cleanup_free_ char *identity = NULL;
	char word[256];
	int r = hold(&claim, device, e);

	if (r)
		return r;
	if (scratch_is_ours(claim_path(claim)))
		return err_refuse(e, "%s is a scratch disk of jbdlab and needs no lease",
			claim_path(claim));
	r = lease_identity(claim, &identity, e);
	if (!r)
		r = describe(cli_log(cli), claim, identity, e);
	if (!r)
		r = refuse_live_journal(claim, e);
	if (!r)
		r = word_of(cli, claim, serial, word, sizeof(word), e);
	if (!r)
		r = lease_take(claim, word, e);
	if (!r)
		log_line(cli_log(cli), LOG_NOTE, "%s is leased", claim_path(claim));
	return r;
}

/* The lease whose identity, or file, is as "scratch list" shows it, if its disk is not
 * connected.  -ENOENT without a message: there is none. */
static int drop_absent(const char *shown, struct err *e)
{
	struct lease_entry *list = NULL;
	size_t count = 0, i = 0;
	int r = lease_list(&list, &count, e);

	while (!r && i < count &&
		(list[i].device || strcmp(list[i].identity ? list[i].identity : list[i].file,
					   shown)))
		i++;
	if (!r)
		r = i < count ? lease_remove(list[i].file, e) : -ENOENT;
	lease_list_free(list, count);
	return r;
}

static int drop(const char *device, struct claim **claim, struct err *e)
{
	_cleanup_free_ char *reason = NULL;
	int r = hold(claim, device, e);

	if (!r)
		return lease_drop(*claim, e);
	if (r != -ENOENT)
		return r;
	reason = strdup(err_message(e));
	r = drop_absent(device, e);
	if (r == -ENOENT && reason)
		return err_refuse(e, "%s; the lease of a disk that is gone is taken back by its "
				     "identity, which \"jbdlab scratch list\" shows", reason);
	if (!r)
		err_clear(e);
	return r;
}

int scratch_unlease(struct cli *cli, const char *device, struct err *e)
{
	_cleanup_(claim_releasep) struct claim *claim = NULL;
	int r = drop(device, &claim, e);

	if (!r)
		log_line(cli_log(cli), LOG_NOTE, "%s is no longer leased",
			claim ? claim_path(claim) : device);
	return r;
}
