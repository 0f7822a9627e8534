/* SPDX-License-Identifier: GPL-3.0-or-later */

/* jbdlab move DEV --to PLACEMENT: see placement/move.h for what it does. */

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "core/clock.h"
#include "core/strbuf.h"
#include "core/units.h"
#include "mount/fstab.h"
#include "placement/move.h"
#include "placement/remount.h"

enum {
	OPT_TO = 1,
	OPT_DRY_RUN,
	OPT_VERIFY,
	OPT_STATE_DIR,
	OPT_REPLAY,
	OPT_OVERWRITE,
	OPT_LOST_JOURNAL,
	OPT_REMOUNT,
	OPT_FSTAB,
};

static const struct option_spec options[] = {
	{ OPT_TO, 't', "to", "PLACEMENT",
		"none, inline[,size=SIZE][,at=WHERE] or external=DEVICE[,size=SIZE]" },
	{ OPT_DRY_RUN, 'n', "dry-run", NULL, "check and compute everything, write nothing" },
	{ OPT_VERIFY, 0, "verify", "HOW",
		"afterwards: fsck, mount (fsck and a trial mount) or none" },
	{ OPT_REPLAY, 0, "replay", NULL,
		"if the volume is not clean, run e2fsck -p on it first" },
	{ OPT_OVERWRITE, 0, "overwrite", "TYPE[,TYPE...]",
		"signatures on the journal device that may go, by name" },
	{ OPT_LOST_JOURNAL, 0, "lost-journal", NULL,
		"the journal device is gone for good: give up what is in it" },
	{ OPT_REMOUNT, 0, "remount", NULL,
		"if the volume is mounted, unmount it and mount it again afterwards" },
	{ OPT_FSTAB, 0, "fstab", NULL, "also change /etc/fstab (a copy is kept)" },
	{ OPT_STATE_DIR, 0, "state-dir", "DIR",
		"where the intent log is kept (" MOVE_STATE_DIR ")" },
	{ 0 },
};

static const char *const verify_words[] = { [VERIFY_NONE] = "none", [VERIFY_FSCK] = "fsck",
	[VERIFY_MOUNT] = "mount" };

static int parse_verify(const char *text, enum move_verify *verify, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(verify_words); i++)
		if (!strcmp(text, verify_words[i])) {
			*verify = (enum move_verify)i;
			return 0;
		}
	return err_usage(e, "--verify takes fsck, mount or none, not \"%s\"", text);
}

static int parse(struct option_parser *p, struct move_options *o, struct placement *to,
	bool *remount, struct err *e)
{
	const char *value;
	bool has_to = false;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0) {
		switch (id) {
		case OPT_TO:
			placement_deinit(to);
			r = placement_parse(to, value, e);
			has_to = true;
			break;
		case OPT_DRY_RUN:
			o->dry_run = true;
			break;
		case OPT_VERIFY:
			r = parse_verify(value, &o->verify, e);
			break;
		case OPT_REPLAY:
			o->replay = true;
			break;
		case OPT_REMOUNT:
			*remount = true;
			break;
		case OPT_FSTAB:
			o->fstab = fstab_path();
			break;
		case OPT_OVERWRITE:
			o->overwrite = value;
			break;
		case OPT_LOST_JOURNAL:
			o->lost_journal = true;
			break;
		case OPT_STATE_DIR:
			o->state_dir = value;
			break;
		default:
			return id;
		}
	}
	if (r)
		return r;
	r = option_operand(p, "device", &o->device, e);
	if (r)
		return r;
	if (!has_to)
		return err_usage(e, "move needs --to PLACEMENT");
	return 0;
}

static void print_json(const struct move_options *o, const struct move_outcome *out,
	const char *placement)
{
	json_t *json = json_pack("{s:s, s:s, s:s, s:b, s:b, s:I, s:I, s:i, s:i, "
				 "s:s?, s:s?, s:s?, s:s?, s:s?}",
		"schema", "jbdlab-moved/1", "device", out->device, "placement", placement,
		"dry_run", o->dry_run, "nothing_to_do", out->nothing_to_do, "journal_bytes",
		(json_int_t)out->journal_bytes, "duration_ns", (json_int_t)out->duration_ns,
		"writes", (int)out->writes, "flushes", (int)out->flushes, "journal_device",
		out->journal_device, "mount_option", out->mount_option, "fstab",
		out->fstab, "kept", out->kept, "steps", out->steps);

	json_dumpf(json, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
	putchar('\n');
	json_decref(json);
}

static void print_text(const struct move_options *o, const struct move_outcome *out,
	const char *placement)
{
	char size[16], took[24];

	if (out->nothing_to_do) {
		cli_printf("%s has its journal there already: %s\n", out->device, placement);
		return;
	}
	if (o->dry_run) {
		cli_printf("%s to %s would be written so:\n%s", out->device, placement, out->steps);
		return;
	}
	units_format_bytes(out->journal_bytes, size);
	units_format_duration(out->duration_ns, took);
	cli_printf("%s: journal is now %s", out->device, placement);
	if (out->journal_bytes)
		cli_printf(" (%s)", size);
	cli_printf(", %u write%s and %u flush%s in %s\n", out->writes, PLURAL(out->writes),
		out->flushes, out->flushes == 1 ? "" : "es", took);
	if (out->kept)
		cli_printf("the overwritten signatures are kept in %s\n", out->kept);
	if (out->mount_option)
		cli_printf("mount option that survives new device names: %s\n", out->mount_option);
	if (out->fstab)
		cli_printf("%s in fstab: %s\n", o->fstab ? "changed" : "to change", out->fstab);
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	_cleanup_(placement_deinit) struct placement to = { 0 };
	_cleanup_(move_outcome_deinit) struct move_outcome out = { 0 };
	_cleanup_free_ char *placement = NULL;
	struct move_options o = { .to = &to, .log = cli_log(cli),
		.verify = geteuid() == 0 ? VERIFY_MOUNT : VERIFY_FSCK };
	bool remount = false;
	int r = parse(p, &o, &to, &remount, e);

	if (r)
		return r;
	r = remount ? remount_move(&o, &out, e) : move_run(&o, &out, e);
	if (r)
		return err_wrap(e, r, "move");
	placement = placement_format(&to);
	cli_progress_done(cli);
	if (cli_json(cli))
		print_json(&o, &out, placement);
	else
		print_text(&o, &out, placement);
	return STATUS_DONE;
}

static void offer(int id, struct strbuf *words)
{
	for (size_t i = 0; id == OPT_VERIFY && i < ARRAY_SIZE(verify_words); i++)
		strbuf_addf(words, " %s", verify_words[i]);
}

const struct command command_move = {
	.name = "move",
	.arguments = "DEV --to PLACEMENT [options]",
	.summary = "move the journal of a volume",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_DESTRUCTIVE,
	.page = "jbdlab-move(8)",
	.offer = offer,
	.run = run,
};
