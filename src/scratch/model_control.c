/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Talking to the model of a scratch disk; see model_control.h. */

#include "scratch/model_control.h"

#include <errno.h>
#include <string.h>

#include "scratch/control.h"
#include "scratch/model_device.h"
#include "scratch/model_parameters.h"
#include "scratch/model_process.h"
#include "scratch/state.h"

static int ask(const char *name, const char *question, char **answer, struct err *e)
{
	_cleanup_(scratch_state_deinit) struct scratch_state s = { 0 };
	_cleanup_free_ char *path = NULL;
	int r = scratch_name_check(name, e);

	if (!r)
		r = scratch_state_read(&s, name, e);
	if (r)
		return r;
	if (model_is_none(s.model))
		return err_usage(e, "scratch disk %s has no model", name);
	path = scratch_run_path(name, MODEL_SOCKET);
	if (!path)
		return err_set(e, ENOMEM, "ask the model of %s", name);
	r = control_ask(path, question, answer, e);
	return r ? err_wrap(e, r, "the model of %s does not answer", name) : 0;
}

int model_control_stats(const char *name, char **text, struct err *e)
{
	return ask(name, MODEL_CONTROL_STATS, text, e);
}

int model_control(const char *name, const char *line, struct err *e)
{
	_cleanup_free_ char *answer = NULL;
	int r = ask(name, line, &answer, e);

	if (!r && strcmp(answer, MODEL_CONTROL_OK))
		return err_say(e, EINVAL, "the model of %s does not know \"%s\"", name, line);
	return r;
}
