/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * jbdlab run FILE.ini: a whole experiment.  The report goes to standard output,
 * everything else to standard error.  Real disks are named and asked for before the first
 * of them is opened for writing; scratch disks that the run makes itself need no
 * question.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "cli/command.h"
#include "cli/run_bundle.h"
#include "cli/run_dry.h"
#include "cli/run_vm.h"
#include "cli/signals.h"
#include "core/units.h"
#include "device/find.h"
#include "report/report.h"
#include "run/supervisor.h"

enum { OPTION_DRY_RUN = 1, OPTION_OUTPUT, OPTION_SEED, OPTION_KEEP, OPTION_TRACE,
	OPTION_RESUME, OPTION_RESTORE, OPTION_VM };

static const struct option_spec options[] = {
	{OPTION_DRY_RUN, 'n', "dry-run", NULL,
		"print the resolved plan, what it will do and about how long; touch "
		"nothing"},
	{OPTION_OUTPUT, 'o', "output", "DIR",
		"the bundle; it must not exist (default NAME-DATE here)"},
	{OPTION_SEED, 0, "seed", "NUMBER", "instead of the seed of the file"},
	{OPTION_TRACE, 0, "trace", NULL,
		"record transactions and requests of each phase, as trace = yes does"},
	{OPTION_VM, 0, "vm", NULL,
		"in a small virtual machine, without root; its times mean nothing"},
	{OPTION_KEEP, 0, "keep", NULL, "do not destroy the scratch disks of the run"},
	{OPTION_RESUME, 0, "resume", "BUNDLE",
		"go on with an interrupted run at its next cell; with FILE.ini only if the "
		"plan still is the same"},
	{OPTION_RESTORE, 0, "restore", "BUNDLE",
		"take every volume back to the placement that it had before that run"},
	{0},
};

struct run_arguments {
	const char *const *files; /* NULL-ended */
	size_t file_count;
	const char *output, *seed;
	const char *bundle; /* to resume or to restore; NULL: a new run */
	enum run_mode mode;
	bool dry_run, keep, trace, vm;
};

static int check_arguments(const struct run_arguments *a, struct err *e)
{
	if (a->mode == RUN_NEW && !a->file_count)
		return err_usage(e, "run takes experiment files, and there is none");
	if (a->mode == RUN_NEW && a->file_count > 1 && a->output)
		return err_usage(e, "--output names one bundle, and there are %zu experiments",
			a->file_count);
	if (a->vm && a->keep)
		return err_usage(e, "--keep and --vm: the disks end with the machine");
	if (a->mode == RUN_NEW)
		return 0;
	if (a->file_count > (a->mode == RUN_RESUME))
		return err_usage(e, "too many operands: the bundle has the plan");
	if (a->output || a->seed || a->dry_run || a->trace || a->vm)
		return err_usage(e,
			"--output, --seed, --trace, --vm and --dry-run are for a new run, not "
			"for one that exists");
	return 0;
}

static int take_bundle(struct run_arguments *a, enum run_mode mode, const char *bundle,
	struct err *e)
{
	if (a->mode != RUN_NEW)
		return err_usage(e, "one of --resume and --restore, and only once");
	a->mode = mode;
	a->bundle = bundle;
	return 0;
}

static int parse(struct option_parser *p, struct run_arguments *a, struct err *e)
{
	const char *value;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0) {
		switch (id) {
		case OPTION_DRY_RUN:
			a->dry_run = true;
			break;
		case OPTION_OUTPUT:
			a->output = value;
			break;
		case OPTION_SEED:
			a->seed = value;
			break;
		case OPTION_TRACE:
			a->trace = true;
			break;
		case OPTION_VM:
			a->vm = true;
			break;
		case OPTION_KEEP:
			a->keep = true;
			break;
		case OPTION_RESUME:
			r = take_bundle(a, RUN_RESUME, value, e);
			break;
		case OPTION_RESTORE:
			r = take_bundle(a, RUN_RESTORE, value, e);
			break;
		default:
			return id;
		}
	}
	if (r)
		return r;
	a->files = option_operands(p, &a->file_count);
	return check_arguments(a, e);
}

static int set_seed(struct experiment *x, const char *seed, struct err *e)
{
	if (seed) {
		int r = units_parse_count(seed, 0, INT64_MAX, &x->seed, e);

		x->seed_given = true;
		return r ? err_wrap(e, r, "--seed") : 0;
	}
	if (x->seed_given)
		return 0;
	/* Short enough to be typed again. */
	if (getrandom(&x->seed, sizeof(x->seed), 0) != sizeof(x->seed))
		return err_set(e, errno, "get a random seed");
	x->seed %= 1000000000;
	x->seed_given = true;
	return 0;
}

/* What happens to disks that are not of the run's own making. */
static char *describe_real(const struct experiment *x)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	for (size_t i = 0; i < x->volume_count; i++) {
		const struct plan_volume *v = &x->volumes[i];

		if (!experiment_disk(x, v->device))
			strbuf_addf(&b, "  %s: %s\n", v->device,
				v->type ? "everything on it is destroyed, a volume is "
					  "made"
					: "the journal of its volume is moved, files are "
					  "written and removed");
	}
	for (size_t i = 0; i < x->arm_count; i++) {
		const char *device = x->arms[i].placement.device;

		if (device && !experiment_disk(x, device))
			strbuf_addf(&b,
				"  %s: everything on it is destroyed, a journal device "
				"is made (arm %s)\n",
				device, x->arms[i].name);
	}
	return strbuf_failed(&b) ? NULL : strdup(strbuf_text(&b));
}

static int find_one(const struct experiment *x, const char *device, const char *kind,
	const char *name, struct err *e)
{
	_cleanup_free_ char *path = NULL;
	int r = device && !experiment_disk(x, device) ? device_find(device, &path, e) : 0;

	return r ? err_wrap(e, r, "%s %s", kind, name) : 0;
}

/* Nobody shall be asked about a disk that is not there. */
static int find_real(const struct experiment *x, struct err *e)
{
	int r = 0;

	for (size_t i = 0; !r && i < x->volume_count; i++)
		r = find_one(x, x->volumes[i].device, "volume", x->volumes[i].name, e);
	for (size_t i = 0; !r && i < x->arm_count; i++)
		r = find_one(x, x->arms[i].placement.device, "journal", x->arms[i].name, e);
	return r;
}

static int ask(struct cli *cli, const struct experiment *x, struct err *e)
{
	_cleanup_free_ char *what = describe_real(x);
	char answer[16] = "";
	int r;

	if (!what)
		return err_set(e, ENOMEM, "run");
	if (!*what || cli_yes(cli))
		return 0;
	if (!isatty(STDIN_FILENO))
		return err_refuse(e,
			"this experiment writes to\n%sSay --yes if that is meant", what);
	r = find_real(x, e);
	if (r)
		return r;
	fprintf(stderr, "This experiment writes to\n%sType \"yes\" to go on: ", what);
	if (!fgets(answer, sizeof(answer), stdin) || strcmp(answer, "yes\n"))
		return err_refuse(e, "not confirmed, nothing was done");
	return 0;
}

static int print_report(struct cli *cli, const char *path, struct err *e)
{
	_cleanup_(report_deinit) struct report report = {0};
	_cleanup_(strbuf_deinit) struct strbuf out = {0};
	int r = report_load(&report, path, e);

	if (!r)
		r = cli_json(cli) ? render_json(&report, &out, e)
				  : render_text(&report, &out, e);
	if (!r)
		fputs(strbuf_text(&out), stdout);
	return r;
}

static int execute(struct cli *cli, const struct experiment *x,
	const struct run_arguments *a, struct err *e)
{
	_cleanup_(run_outcome_deinit) struct run_outcome outcome = {0};
	const struct run_options o = {.mode = a->mode,
		.experiment = x,
		.output = a->bundle ? a->bundle : a->output,
		.process = getpid(),
		.version = cli_version(),
		.keep = a->keep,
		.stop = signals_catch(),
		.question = signals_catch_question(),
		.log = cli_log(cli)};
	int r;

	if (geteuid() != 0)
		return err_refuse(e,
			"run makes file systems and mounts them, which needs "
			"root; --dry-run does not");
	if (x->notes)
		log_line(cli_log(cli), LOG_NOTE, "%s", x->notes);
	/* What an earlier process was allowed to begin may be ended. */
	r = a->mode == RUN_NEW ? ask(cli, x, e) : 0;
	if (!r)
		r = run_supervised(&o, &outcome, e);
	if (outcome.bundle)
		log_line(cli_log(cli), LOG_NOTE, "the bundle is %s%s", outcome.bundle,
			r ? "; \"run --resume\" goes on with it, \"run --restore\" takes the "
			    "volumes back"
			  : "");
	cli_progress_done(cli);
	if (!r && a->mode != RUN_RESTORE)
		r = print_report(cli, outcome.bundle, e);
	if (r || a->mode == RUN_RESTORE)
		return r;
	if (outcome.inconclusive)
		return STATUS_INCONCLUSIVE;
	if (outcome.audit_failed)
		return STATUS_AUDIT_FAILED;
	return r;
}

/* Whatever the run in the machine has said is on stderr already. */
static int execute_in_machine(struct cli *cli, struct experiment *x,
	const struct run_arguments *a, struct err *e)
{
	_cleanup_free_ char *bundle = NULL;
	int r, status = run_in_machine(cli, x, a->output, &bundle, e);

	if (status != STATUS_DONE && status != STATUS_INCONCLUSIVE &&
		status != STATUS_AUDIT_FAILED)
		return status;
	log_line(cli_log(cli), LOG_NOTE, "the bundle is %s", bundle);
	cli_progress_done(cli);
	r = print_report(cli, bundle, e);
	return r ? r : status;
}

static int run_file(struct cli *cli, const char *file, const struct run_arguments *a,
	struct err *e)
{
	_cleanup_(experiment_deinit) struct experiment x = {0};
	int r = experiment_read(&x, file, e);

	if (!r)
		r = set_seed(&x, a->seed, e);
	x.trace = x.trace || a->trace;
	if (!r)
		r = a->dry_run ? run_dry(cli, &x, e)
			: a->vm	   ? execute_in_machine(cli, &x, a, e)
				   : execute(cli, &x, a, e);
	return r;
}

/* In turn; one that fails does not keep the next from running, only a signal does.  The
 * highest status counts. */
static int run_files(struct cli *cli, const struct run_arguments *a, struct err *e)
{
	int highest = 0;

	for (size_t i = 0; i < a->file_count; i++) {
		_cleanup_(err_clear) struct err one = {0};
		int r;

		log_line(cli_log(cli), LOG_NOTE, "experiment %zu of %zu: %s", i + 1,
			a->file_count, a->files[i]);
		r = run_file(cli, a->files[i], a, &one);
		cli_progress_done(cli);
		fflush(stdout);
		if (r < 0 && one.kind == ERR_INTERRUPTED)
			return err_interrupted(e, one.code);
		if (r < 0)
			log_line(cli_log(cli), LOG_WARNING, "%s: %s", a->files[i],
				err_message(&one));
		highest = MAX(highest, r < 0 ? cli_status(&one) : r);
	}
	return highest;
}

static int go_on(struct cli *cli, const struct run_arguments *a, struct err *e)
{
	_cleanup_(experiment_deinit) struct experiment x = {0};
	bool complete = false;
	int r = run_bundle_read(&x, a->bundle, a->files[0], &complete, e);

	if (r)
		return r;
	if (!complete || a->mode == RUN_RESTORE)
		return execute(cli, &x, a, e);
	log_line(cli_log(cli), LOG_NOTE, "the run in %s is complete", a->bundle);
	r = run_bundle_add_report(a->bundle, e);
	return r ? r : print_report(cli, a->bundle, e);
}

static int run(struct cli *cli, struct option_parser *p, struct err *e)
{
	struct run_arguments a = {0};
	int r = parse(p, &a, e);

	if (r)
		return r;
	if (a.bundle)
		return go_on(cli, &a, e);
	return a.file_count == 1 ? run_file(cli, a.files[0], &a, e)
				 : run_files(cli, &a, e);
}

const struct command command_run = {
	.name = "run",
	.arguments = "FILE.ini... [options]\n"
		     "--resume BUNDLE [FILE.ini] [options]\n"
		     "--restore BUNDLE [options]",
	.summary = "run an experiment: move journals, measure, compare",
	.options = options,
	.flags = COMMAND_JSON | COMMAND_DESTRUCTIVE,
	.page = "jbdlab-run(8)",
	.run = run,
};
