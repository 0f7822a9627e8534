/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * Features of the volumes that an arm switches; see features.h.
 *
 * fast_commit is one bit in the superblock of the volume; the kernel does the rest when
 * it mounts.  tune2fs sets and clears it, which is safe while the volume is clean and not
 * mounted.  It is done before the journal is placed: a move lays the journal out for what
 * the volume can do.  The bit that the kernel sets in the journal itself is gone after
 * every clean unmount.
 */

#include "run/features.h"

#include <errno.h>

#include "core/process.h"
#include "run/devices.h"
#include "volume/volume.h"

static int has_fast_commit(const struct session_volume *v, bool *has, struct err *e)
{
	_cleanup_(volume_info_deinit) struct volume_info info = {0};
	int r = devices_read_volume(&info, &v->device, e);

	if (!r)
		*has = volume_has_feature(&info, "fast_commit");
	return r;
}

/* tune2fs opens the device itself; afterwards it must be the same one, with the bit as it
 * was asked for. */
static int switch_one(const struct session_volume *v, bool on, struct err *e)
{
	const char *const words[] = {"tune2fs", "-O",
		on ? "fast_commit" : "^fast_commit", v->device.path, NULL};
	_cleanup_close_ int pin = -1;
	bool has = false;
	int r = has_fast_commit(v, &has, e);

	if (!r && has != on)
		r = devices_pin(&pin, &v->device, e);
	if (r || has == on)
		return r;
	r = process_run_ok(words, e);
	if (!r)
		r = has_fast_commit(v, &has, e);
	if (!r && has != on)
		r = err_say(e, EIO, "tune2fs left fast_commit as it was");
	return r;
}

int features_switch(void *session, struct err *e)
{
	struct session *s = session;
	enum plan_switch wanted = session_arm(s)->fast_commit;

	for (size_t i = 0; wanted != SWITCH_AS_IS && i < s->x->volume_count; i++) {
		int r = switch_one(&s->volumes[i], wanted == SWITCH_ON, e);

		if (r)
			return err_wrap(e, r, "volume %s", s->x->volumes[i].name);
	}
	return 0;
}
