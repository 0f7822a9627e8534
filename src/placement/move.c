/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A move from the first look to the last check: gather and hold the devices, ask every
 * check and e2fsck, compile the steps, write the intent log, carry out the steps, remove
 * the log, and let every referee look at the result.
 *
 * Signals that would end us are blocked between the intent log and its removal, and while
 * the volume is mounted for trial: that is a matter of milliseconds, and afterwards they
 * take their effect.
 */

#include "placement/move.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uuid/uuid.h>

#include "core/clock.h"
#include "core/ending_signals.h"
#include "core/strbuf.h"
#include "device/find.h"
#include "mount/mount.h"
#include "placement/check.h"
#include "placement/compile.h"
#include "placement/fstab_advice.h"
#include "placement/intent.h"
#include "placement/lost_journal.h"
#include "placement/recover.h"
#include "placement/replay.h"
#include "placement/subject.h"
#include "volume/fsck.h"

struct move {
	const struct move_options *o;
	struct subject subject;
	struct compile_output plan;
	struct step_devices devices;
	struct step_progress progress;
	struct move_outcome *out;
};

static const char *state_dir(const struct move *m)
{
	return m->o->state_dir ? m->o->state_dir : MOVE_STATE_DIR;
}

static void move_deinit(struct move *m)
{
	subject_deinit(&m->subject);
	compile_output_deinit(&m->plan);
}

static int refuse(const struct subject *s, struct err *e)
{
	return err_refuse(e, "%s", strbuf_text(&s->reasons));
}

static int check(struct move *m, struct err *e)
{
	struct subject *s = &m->subject;
	int r;

	check_all(s);
	if (s->warnings.length) {
		m->out->warnings = strdup(strbuf_text(&s->warnings));
		log_line(m->o->log, LOG_WARNING, "%s", strbuf_text(&s->warnings));
	}
	if (s->reasons.length)
		return refuse(s, e);
	if (check_nothing_to_do(s) || s->mounted)
		return 0;
	log_line(m->o->log, LOG_NOTE, "checking %s with e2fsck before the move", s->volume.path);
	r = fsck_check(s->volume.path, s->old_journal.path, e);
	if (r == -EUCLEAN || r == -ENOENT)
		e->kind = ERR_REFUSED;
	return r;
}

static int compile(struct move *m, struct err *e)
{
	struct subject *s = &m->subject;
	struct compile_input in = {
		.volume = s->volume.claim,
		.new_journal = subject_new_journal(s),
		.old_journal = s->old_journal.claim,
		.info = &s->volume.info,
		.to = m->o->to,
		.wipe = &s->signatures,
	};
	const struct claim *on[STEP_DEVICES] = { [ON_VOLUME] = in.volume,
		[ON_NEW_JOURNAL] = in.new_journal, [ON_OLD_JOURNAL] = in.old_journal };
	int r = compile_move(&m->plan, &in, e);

	/* No room, or a size that cannot be, is a refusal: nothing was written. */
	if (r == -ENOSPC || r == -ERANGE)
		e->kind = ERR_REFUSED;
	for (size_t i = 0; i < STEP_DEVICES; i++) {
		m->devices.fd[i] = on[i] ? claim_fd(on[i]) : -1;
		m->devices.name[i] = on[i] ? claim_path(on[i]) : NULL;
	}
	return r;
}

static char *describe_steps(const struct move *m)
{
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	for (size_t i = 0; i < m->plan.steps.count; i++) {
		const struct step *s = &m->plan.steps.items[i];
		uint64_t bytes = 0;

		for (size_t k = 0; k < s->write_count; k++)
			bytes += s->writes[k].length;
		strbuf_addf(&b, "%zu. %s: %s (%zu write%s, %llu bytes, flush)\n", i + 1,
			m->devices.name[s->device], s->what, s->write_count,
			PLURAL(s->write_count),
			(unsigned long long)bytes);
	}
	return strbuf_take(&b);
}

static char *origin_text(const struct subject *s)
{
	struct placement p = { .place = s->volume.info.place,
		.size_bytes = volume_journal_bytes(&s->volume.info) };

	if (p.place == JOURNAL_EXTERNAL) {
		p.device = s->old_journal.path;
		p.size_bytes = volume_journal_bytes(&s->old_journal.info);
	}
	return placement_format(&p);
}

/* Steps are lent to the log for writing, not copied. */
static int write_intent(struct move *m, struct err *e)
{
	_cleanup_free_ char *origin = origin_text(&m->subject);
	_cleanup_free_ char *target = placement_format(m->o->to);
	const struct claim *on[STEP_DEVICES] = { m->subject.volume.claim,
		subject_new_journal(&m->subject), m->subject.old_journal.claim };
	struct intent i = { .uuid = m->subject.volume.info.uuid, .origin = origin,
		.target = target, .undo = m->o->undo, .steps = m->plan.steps };
	int r;

	if (!origin || !target)
		return err_set(e, ENOMEM, "write intent log");
	for (size_t d = 0; d < STEP_DEVICES; d++)
		if (on[d]) {
			i.path[d] = (char *)claim_path(on[d]);
			i.identity[d] = intent_identity(claim_identity(on[d]));
		}
	r = intent_write(&i, state_dir(m), e);
	for (size_t d = 0; d < STEP_DEVICES; d++)
		free(i.identity[d]);
	return r;
}

/* Removes the log of a move that is undone.  When only the removal is not durable, the log
 * may be there again after a power cut, and does no harm: recover finds nothing to do. */
static int forget_undone(const struct move *m)
{
	const char *uuid = m->subject.volume.info.uuid;
	int r = intent_remove(state_dir(m), uuid, NULL);

	return recover_is_pending(m->o->state_dir, uuid) ? r : 0;
}

/* Something failed while carrying out the steps: back, if the switch allows it. */
static int back_out(struct move *m, int r, struct err *e)
{
	size_t at_switch = step_list_switch(&m->plan.steps);
	const char *device = m->subject.volume.path;
	int undo = 0;

	if (m->progress.next > at_switch) {
		e->kind = ERR_NEEDS_RECOVER;
		return err_wrap(e, r,
			"the move of %s is past its switch and not finished; run \"jbdlab recover "
			"%s\" when the fault is mended (a mount or e2fsck -p finishes it too)",
			device, device);
	}
	if (m->progress.wrote)
		undo = step_list_undo(&m->plan.steps, &m->devices, m->progress.next + 1,
			r == -ESTALE, NULL);
	if (!undo)
		undo = forget_undone(m);
	if (!undo)
		return err_wrap(e, r, "the journal of %s stays where it was", device);
	e->kind = ERR_NEEDS_RECOVER;
	return err_wrap(e, r,
		"the move of %s has not reached its switch and could not be undone; run "
		"\"jbdlab recover %s\" when the fault is mended (e2fsck -p mends the volume too)",
		device, device);
}

/* A journal device that nobody uses is no loss. */
static bool overwrites(const struct move *m)
{
	const struct signature_list *l = &m->subject.signatures;

	return l->count > 1 || (l->count == 1 && m->o->overwrite);
}

/* A log that stays does no harm: recover finds that all is done. */
static void forget_intent(struct move *m)
{
	_cleanup_(err_clear) struct err e = { 0 };
	const char *uuid = m->subject.volume.info.uuid;
	int r = overwrites(m) ? intent_keep(state_dir(m), uuid, &m->out->kept, &e)
			      : intent_remove(state_dir(m), uuid, &e);

	if (r)
		log_line(m->o->log, LOG_WARNING, "the move of %s is complete, but: %s",
			m->subject.volume.path, err_message(&e));
}

static int carry_out(struct move *m, struct err *e)
{
	uint64_t start;
	int r = write_intent(m, e);

	if (r)
		return err_wrap(e, r, "the journal of %s stays where it was",
			m->subject.volume.path);
	start = clock_now_ns();
	r = step_list_execute(&m->plan.steps, &m->devices, &m->progress, e);
	m->out->duration_ns = clock_now_ns() - start;
	m->out->writes = m->progress.writes;
	m->out->flushes = m->progress.flushes;
	if (r)
		return back_out(m, r, e);
	forget_intent(m);
	return 0;
}

static int interrupted(const struct move *m, int number, const char *state, struct err *e)
{
	int r = err_interrupted(e, number);

	return err_wrap(e, r, "the move of %s %s", m->subject.volume.path, state);
}

/* Signals that would end us take effect when it is over, as an error.  state: how far the
 * move is if there is one already. */
static int undisturbed(int (*work)(struct move *m, struct err *e), struct move *m,
	const char *state, struct err *e)
{
	sigset_t before;
	int number, r;

	ending_signals_hold(&before);
	number = ending_signals_take();
	r = number ? interrupted(m, number, state, e) : work(m, e);
	number = ending_signals_take();
	ending_signals_release(&before);
	return number && !r ? interrupted(m, number, "is complete", e) : r;
}

/* --- the result --- */

static int fill_outcome(struct move *m, struct err *e)
{
	const struct claim *journal = subject_new_journal(&m->subject);
	struct move_outcome *out = m->out;
	char uuid[37];

	out->device = strdup(m->subject.volume.path);
	out->journal_bytes = m->plan.journal_bytes;
	out->steps = describe_steps(m);
	if (journal) {
		uuid_unparse(m->plan.journal_uuid, uuid);
		out->journal_device = strdup(claim_path(journal));
		if (asprintf(&out->mount_option, "journal_path=/dev/disk/by-uuid/%s", uuid) < 0)
			out->mount_option = NULL;
	}
	if (!out->device || !out->steps ||
		(journal && (!out->journal_device || !out->mount_option)))
		return err_set(e, ENOMEM, "describe move");
	return 0;
}

static bool has_only_user(const struct journal_state *j, const char *uuid_text)
{
	uuid_t uuid;

	return j->readable && j->user_count == 1 && !uuid_parse(uuid_text, uuid) &&
		!memcmp(uuid, j->users[0], sizeof(uuid)) &&
		(!j->checksum_expected || j->checksum_valid);
}

/* Reads both superblocks again and holds them against what was intended. */
static int compare_with_intent(const struct move *m, struct err *e)
{
	const struct claim *journal = subject_new_journal(&m->subject);
	struct volume_info v = { 0 }, j = { 0 };
	char uuid[37] = "";
	bool right;
	int r = volume_info_read(&v, claim_fd(m->subject.volume.claim),
		m->subject.volume.path, e);

	if (r)
		return r;
	right = v.place == m->o->to->place && v.state_valid && !v.needs_recovery &&
		!v.journal_problem;
	if (v.place == JOURNAL_INLINE)
		right = right && volume_journal_bytes(&v) == m->plan.journal_bytes;
	volume_info_deinit(&v);
	if (journal) {
		r = volume_info_read(&j, claim_fd(journal), claim_path(journal), e);
		if (r)
			return r;
		uuid_unparse(m->plan.journal_uuid, uuid);
		right = right && !strcmp(j.uuid, uuid) &&
			volume_journal_bytes(&j) == m->plan.journal_bytes &&
			has_only_user(&j.journal, m->subject.volume.info.uuid);
		volume_info_deinit(&j);
	}
	return right ? 0
		     : err_say(e, EUCLEAN, "%s does not say what was written to it",
			       m->subject.volume.path);
}

/* The driver that knows the volume as it is now: without a journal that is never ext3. */
static const char *driver(const struct move *m)
{
	if (m->o->to->place == JOURNAL_NONE)
		return "ext4";
	return m->subject.volume.info.place == JOURNAL_NONE &&
			!strcmp(m->subject.volume.info.type, "ext2")
		? "ext3"
		: m->subject.volume.info.type;
}

static int try_mount(struct move *m, struct err *e)
{
	_cleanup_free_ char *options = NULL;
	int r;

	if (m->out->journal_device &&
		asprintf(&options, "journal_path=%s", m->out->journal_device) < 0)
		return err_set(e, ENOMEM, "mount %s", m->out->device);
	log_line(m->o->log, LOG_NOTE, "mounting %s for a trial", m->out->device);
	r = mount_trial(m->out->device, driver(m), options, e);
	if (r != -EOPNOTSUPP)
		return r;
	log_line(m->o->log, LOG_WARNING,
		"only e2fsck has looked at the result, because this kernel can mount no "
		"such volume: %s",
		err_message(e));
	err_clear(e);
	return 0;
}

static int verify(struct move *m, struct err *e)
{
	const struct claim *journal = subject_new_journal(&m->subject);
	bool is_block = claim_identity(m->subject.volume.claim)->is_block;
	int r = compare_with_intent(m, e);

	if (r || m->o->verify == VERIFY_NONE)
		return r;
	log_line(m->o->log, LOG_NOTE, "checking %s with e2fsck after the move", m->out->device);
	r = fsck_check(m->out->device, journal ? claim_path(journal) : NULL, e);
	subject_release(&m->subject);
	if (r || m->o->verify != VERIFY_MOUNT || !is_block)
		return r;
	return undisturbed(try_mount, m, "is complete", e);
}

/* --- the whole --- */

/* The same command typed again after an interruption first settles what was left. */
static int settle_pending(const struct move_options *o, struct err *e)
{
	_cleanup_(recover_outcome_deinit) struct recover_outcome settled = { 0 };
	struct recover_options q = { .device = o->device, .state_dir = o->state_dir,
		.log = o->log };

	return recover_settle(&q, &settled, e);
}

static int say_pending(const struct move *m, struct err *e)
{
	int r = err_say(e, EBUSY, "a move of %s was interrupted; run \"jbdlab recover %s\"",
		m->subject.volume.path, m->subject.volume.path);

	e->kind = ERR_NEEDS_RECOVER;
	return r;
}

static bool wants_replay(const struct move *m)
{
	const struct volume_info *v = &m->subject.volume.info;

	return m->o->replay && (v->needs_recovery || !v->state_valid || v->orphan_present ||
				       replay_log_is_stale(v, m->subject.old_journal.path));
}

static bool lost_journal(const struct move *m)
{
	return m->o->lost_journal && m->subject.journal_missing;
}

/* What must be put in order before a move, each only when the user asked for it. */
static int prepare(struct move *m, bool *changed, struct err *e)
{
	struct subject *s = &m->subject;
	bool pending = recover_is_pending(m->o->state_dir, s->volume.info.uuid);

	*changed = true;
	if (!m->o->dry_run && s->volume.claim && lost_journal(m)) {
		int r = lost_journal_give_up(s, m->o->log, e);

		return r ? r : intent_remove(state_dir(m), s->volume.info.uuid, e);
	}
	if (pending && !m->o->takes_log) {
		if (m->o->dry_run)
			return say_pending(m, e);
		subject_release(s);
		return settle_pending(m->o, e);
	}
	if (m->o->dry_run || !s->volume.claim) {
		*changed = false;
		return 0;
	}
	if (wants_replay(m)) {
		subject_release(s);
		log_line(m->o->log, LOG_NOTE, "replaying the log of %s",
			s->volume.path);
		return replay_volume(s->volume.path, &s->volume.info, s->old_journal.path, e);
	}
	*changed = false;
	return 0;
}

static int open_devices(struct move *m, struct err *e)
{
	const struct subject_options o = { .device = m->o->device,
		.to = m->o->to,
		.overwrite = m->o->overwrite,
		.mounted = m->o->dry_run && m->o->mounted };

	return subject_open(&m->subject, &o, e);
}

static int open_subject(struct move *m, struct err *e)
{
	bool changed = false;
	sigset_t before;
	int r = open_devices(m, e);

	if (!r) {
		ending_signals_hold(&before);
		r = prepare(m, &changed, e);
		ending_signals_release(&before);
	}
	if (r || !changed)
		return r;
	subject_deinit(&m->subject);
	return open_devices(m, e);
}

/* The outcome of a move that had nothing to do: fstab may still have to be changed. */
static int describe_as_is(struct move *m, struct err *e)
{
	const struct subject *s = &m->subject;
	struct move_outcome *out = m->out;

	out->nothing_to_do = true;
	out->device = strdup(s->volume.path);
	if (s->volume.info.place == JOURNAL_EXTERNAL) {
		out->journal_device = strdup(s->old_journal.path);
		if (asprintf(&out->mount_option, "journal_path=/dev/disk/by-uuid/%s",
			    s->volume.info.journal_uuid) < 0)
			out->mount_option = NULL;
		if (!out->journal_device || !out->mount_option)
			return err_set(e, ENOMEM, "describe move");
	}
	return out->device ? 0 : err_set(e, ENOMEM, "describe move");
}

/* The file system is in motion: nothing can be computed from what is on the disk now. */
static int describe_mounted(struct move *m, struct err *e)
{
	m->out->device = strdup(m->subject.volume.path);
	m->out->steps = strdup("move the journal; what is written is computed when the "
			       "volume is unmounted\n");
	return m->out->device && m->out->steps ? 0 : err_set(e, ENOMEM, "describe move");
}

int move_run(const struct move_options *o, struct move_outcome *out, struct err *e)
{
	_cleanup_(move_outcome_deinit) struct move_outcome result = { 0 };
	_cleanup_(move_deinit) struct move m = { .o = o, .out = &result };
	int r = open_subject(&m, e);

	if (!r)
		r = check(&m, e);
	if (r)
		return r;
	if (check_nothing_to_do(&m.subject)) {
		r = describe_as_is(&m, e);
		if (!r && o->takes_log)
			r = intent_remove(state_dir(&m), m.subject.volume.info.uuid, e);
		if (!r)
			r = fstab_advice(o, &result, e);
	} else if (m.subject.mounted) {
		r = describe_mounted(&m, e);
	} else {
		r = compile(&m, e);
		if (!r)
			r = fill_outcome(&m, e);
		if (!r && !o->dry_run)
			r = undisturbed(carry_out, &m, "has not begun", e);
		if (!r && !o->dry_run) {
			r = verify(&m, e);
			if (r && e->kind != ERR_INTERRUPTED) {
				/* ERR_FAILED would say that nothing has changed. */
				if (e->kind == ERR_FAILED)
					e->kind = ERR_NEEDS_RECOVER;
				err_wrap(e, r, "the move of %s is complete, but not good",
					m.subject.volume.path);
			}
		}
		if (!r)
			r = fstab_advice(o, &result, e);
	}
	if (r)
		return r;
	*out = result;
	result = (struct move_outcome){ 0 };
	return 0;
}

void move_outcome_deinit(struct move_outcome *out)
{
	free(out->device);
	free(out->journal_device);
	free(out->mount_option);
	free(out->fstab);
	free(out->steps);
	free(out->kept);
	free(out->warnings);
	*out = (struct move_outcome){ 0 };
}
