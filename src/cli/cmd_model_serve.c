/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * "jbdlab model-serve": the process of a disk model, as `scratch create` starts it.  Not
 * for people; see scratch/model_process.h.
 */

#include "cli/command.h"
#include "core/units.h"
#include "scratch/model_process.h"

enum { OPTION_NAME = 1, OPTION_SIZE, OPTION_MODEL, OPTION_FILE, OPTION_DISK, OPTION_RUN_DIR };

static const struct option_spec options[] = {
	{ OPTION_NAME, 0, "name", "NAME", "of the scratch disk" },
	{ OPTION_SIZE, 0, "size", "BYTES", "of the disk" },
	{ OPTION_MODEL, 0, "model", "MODEL", "model with overrides" },
	{ OPTION_FILE, 0, "file", "FILE", "data file" },
	{ OPTION_DISK, 0, "disk", "NAME", "of the file that is served" },
	{ OPTION_RUN_DIR, 0, "run-dir", "DIR", "with mount point and lock" },
	{ 0 },
};

static int parse(struct option_parser *p, struct model_process *m, struct err *e)
{
	const char *value;
	int id, r = 0;

	while (!r && (id = option_next(p, &value, e)) != 0)
		switch (id) {
		case OPTION_NAME:
			m->name = value;
			break;
		case OPTION_SIZE:
			r = units_parse_bytes(value, &m->size_bytes, e);
			break;
		case OPTION_MODEL:
			m->model = value;
			break;
		case OPTION_FILE:
			m->file = value;
			break;
		case OPTION_DISK:
			m->disk = value;
			break;
		case OPTION_RUN_DIR:
			m->run_dir = value;
			break;
		default:
			r = id;
		}
	if (!r && (!m->name || !m->model || !m->file || !m->disk || !m->run_dir ||
			  !m->size_bytes))
		r = err_usage(e, "model-serve is started by \"jbdlab scratch create\"");
	return r;
}

static int run(struct cli *cli _unused_, struct option_parser *p, struct err *e)
{
	struct model_process m = { 0 };
	int r = parse(p, &m, e);

	return r ? r : model_process_main(&m, e);
}

const struct command command_model_serve = {
	.name = MODEL_SERVE_COMMAND,
	.arguments = "--name NAME --size BYTES --model MODEL --file FILE --disk NAME "
		     "--run-dir DIR",
	.summary = "Serve a disk model (internal)",
	.options = options,
	.flags = COMMAND_HIDDEN,
	.run = run,
};
