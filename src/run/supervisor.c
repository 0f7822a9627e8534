/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * A run under watch; see supervisor.h.
 *
 *	we --- child: the run --- programs, threads
 *
 * Nothing is shared but a pair of sockets.  Locks, mounts and the mount namespace are the
 * child's alone, and go with it; it dies with us, so that "kill -9" of the process that
 * the user sees is what it would be without a child.  A child that hangs in the kernel
 * dies as soon as the device answers: it cannot write any more, it was killed.
 */

#include "run/supervisor.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "core/clock.h"
#include "core/inhibit.h"
#include "core/units.h"
#include "evidence/diskstats.h"
#include "evidence/tasks.h"
#include "result/bundle.h"
#include "run/hang.h"
#include "run/packets.h"
#include "run/status.h"

enum { KILL_MS = 5000 };
#define GRACE_NS (60 * NS_PER_S)

/* How far we are with ending the child. */
enum ending { GOES_ON, ASKED_TO_END, TOLD_TO_END, LEFT };

struct supervisor {
	const struct run_options *o;
	pid_t child;
	int child_fd; /* -1: the kernel has no such descriptors */
	int fd;
	struct inhibit inhibit;
	struct hang hang;
	json_t *status; /* the last step; NULL: none yet */
	char *bundle;	/* NULL: there is none that will stay */
	char *progress; /* the last line, NULL: none in this step */
	char *hung;	/* what hangs; NULL: nothing */
	json_t *end;	/* how the run ended; NULL: it did not say */
	char *error;	/* and why */
	enum ending ending;
	uint64_t patience_ends_ns; /* TOLD_TO_END */
	bool cannot_write; /* the status; that was said */
};

/* The child. */

static void send_line(void *data, enum log_level level, const char *line)
{
	packets_send(*(int *)data, PACKET_LOG, (int)level, line);
}

static void send_step(void *data, const char *bundle, json_t *status, uint64_t expected_ns)
{
	_cleanup_free_ char *text = NULL;

	json_object_set_new(status, "expected_ns", json_integer((json_int_t)expected_ns));
	text = json_dumps(status, JSON_COMPACT);
	if (bundle)
		packets_send(*(int *)data, PACKET_BUNDLE, 0, bundle);
	if (text)
		packets_send(*(int *)data, PACKET_STEP, 0, text);
}

static void send_end(int fd, int r, const struct run_outcome *outcome, const struct err *e)
{
	json_auto_t *end = json_pack("{si,si,si,sb,sb,sb}", "r", r, "code", e->code, "kind",
		(int)e->kind, "bundle", outcome->bundle != NULL, "audit_failed",
		outcome->audit_failed, "inconclusive", outcome->inconclusive);
	_cleanup_free_ char *text = end ? json_dumps(end, JSON_COMPACT) : NULL;

	/* Not in the object: a path need not be UTF-8. */
	if (outcome->bundle)
		packets_send(fd, PACKET_BUNDLE, 0, outcome->bundle);
	packets_send(fd, PACKET_ERROR, 0, err_message(e));
	if (text)
		packets_send(fd, PACKET_END, 0, text);
}

static void carry_out(const struct run_options *o, int fd)
{
	_cleanup_(run_outcome_deinit) struct run_outcome outcome = {0};
	_cleanup_(err_clear) struct err e = {0};
	const struct log log = {send_line, &fd};
	const struct run_observer observer = {&fd, send_step};
	struct run_options mine = *o;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != o->process)
		_exit(1);
	mine.log = &log;
	mine.observer = &observer;
	r = run_experiment(&mine, &outcome, &e);
	send_end(fd, r, &outcome, &e);
}

/* The watcher. */

static void write_status(struct supervisor *w, const char *state, const char *reason)
{
	_cleanup_(err_clear) struct err e = {0};

	if (!w->bundle || !w->status || w->cannot_write)
		return;
	if (!status_write(w->bundle, w->status, state, reason, &e))
		return;
	w->cannot_write = true;
	log_line(w->o->log, LOG_WARNING, "%s", err_message(&e));
}

static const json_t *devices_of(const struct supervisor *w)
{
	return json_object_get(w->status, "devices");
}

static void take_step(struct supervisor *w, const char *text)
{
	json_t *status = json_loads(text, 0, NULL);
	const json_t *devices = json_object_get(status, "devices");
	uint64_t now = clock_now_ns();

	if (!status)
		return;
	if (!json_equal(devices, devices_of(w)))
		hang_set_devices(&w->hang, json_array_size(devices), now);
	hang_step(&w->hang,
		(uint64_t)json_integer_value(json_object_get(status, "expected_ns")), now);
	json_object_del(status, "expected_ns");
	json_decref(w->status);
	w->status = status;
	free(take_ptr(w->progress));
	write_status(w, w->hung ? "hung" : "running", w->hung);
}

static void replace(char **text, char *by)
{
	free(*text);
	*text = by;
}

static void take_packet(struct supervisor *w, struct packet *p)
{
	switch (p->kind) {
	case PACKET_LOG:
		log_line(w->o->log, (enum log_level)p->number, "%s", p->text);
		if (p->number == LOG_PROGRESS)
			replace(&w->progress, take_ptr(p->text));
		break;
	case PACKET_BUNDLE:
		replace(&w->bundle, take_ptr(p->text));
		break;
	case PACKET_STEP:
		take_step(w, p->text);
		break;
	case PACKET_ERROR:
		replace(&w->error, take_ptr(p->text));
		break;
	case PACKET_END:
		json_decref(w->end);
		w->end = json_loads(p->text, 0, NULL);
		break;
	}
	free(p->text);
}

static void take_packets(struct supervisor *w)
{
	struct packet p;

	while (packets_receive(w->fd, &p))
		take_packet(w, &p);
}

static void answer_question(struct supervisor *w)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0};

	*w->o->question = 0;
	status_describe(w->status, &b);
	status_describe_left(w->status, &b);
	if (w->progress)
		strbuf_addf(&b, " (%s)", w->progress);
	/* Also with --quiet: somebody has asked. */
	log_line(w->o->log, LOG_ANSWER, "%s: %s", w->o->experiment->name, strbuf_text(&b));
}

static void read_samples(const struct supervisor *w, struct hang_sample *samples)
{
	const json_t *device;
	size_t i;

	json_array_foreach(devices_of(w), i, device) {
		dev_t devno = makedev(
			(unsigned)json_integer_value(json_object_get(device, "major")),
			(unsigned)json_integer_value(json_object_get(device, "minor")));
		struct diskstats s = {0};

		if (i == w->hang.count)
			break;
		diskstats_read(&s, devno);
		samples[i] = (struct hang_sample){
			s.reads + s.writes + s.discards + s.flushes, s.in_flight};
	}
}

static void describe_device(const struct supervisor *w, size_t i, struct strbuf *b)
{
	const json_t *device = json_array_get(devices_of(w), i);
	const char *name = json_string_value(json_object_get(device, "name"));
	const char *role = json_string_value(json_object_get(device, "role"));

	strbuf_addf(b, "%s (%s)", name ? name : "?", role ? role : "?");
}

/* Sets what hangs, and says it with what the kernel says. */
static void say_what_hangs(struct supervisor *w, int found)
{
	_cleanup_(strbuf_deinit) struct strbuf b = {0}, more = {0};
	uint64_t since = found < 0 ? w->hang.sign_ns : w->hang.devices[found].since_ns;
	uint64_t ns = clock_now_ns() - since;
	char time[24];

	units_format_duration(ns > NS_PER_S ? ns - ns % NS_PER_S : ns, time);
	status_describe(w->status, &b);
	strbuf_add(&b, ": ");
	if (found >= 0)
		describe_device(w, (size_t)found, &b);
	strbuf_addf(&b, found < 0 ? "nothing has happened for %s"
				  : " has answered nothing for %s", time);
	for (size_t i = 0; i < w->hang.count; i++) {
		strbuf_add(&more, "\n  ");
		describe_device(w, i, &more);
		strbuf_addf(&more, ": %llu requests in flight",
			(unsigned long long)w->hang.devices[i].last.in_flight);
	}
	tasks_describe_waiting(w->child, &more);
	log_line(w->o->log, LOG_WARNING, "it hangs in %s%s", strbuf_text(&b),
		strbuf_text(&more));
	replace(&w->hung, strbuf_take(&b));
}

/* It was asked to end, or is asked to now, or did not end when it was. */
static void end_what_hangs(struct supervisor *w, int found)
{
	uint64_t now = clock_now_ns();
	size_t devices = w->hang.count;
	bool first = !w->hung;

	if (first)
		say_what_hangs(w, found);
	write_status(w, "hung", w->hung);
	if (w->ending == GOES_ON) {
		kill(w->child, SIGTERM);
		w->ending = ASKED_TO_END;
		hang_init(&w->hang, MIN(w->hang.bound_ns, GRACE_NS), now);
		hang_set_devices(&w->hang, devices, now);
		return;
	}
	kill(w->child, SIGKILL);
	w->ending = TOLD_TO_END;
	w->patience_ends_ns = now + KILL_MS * NS_PER_MS;
}

static void look(struct supervisor *w)
{
	struct hang_sample samples[HANG_DEVICES_MAX] = {{0}};
	uint64_t now = clock_now_ns();
	struct tasks tasks;
	int found;

	if (w->ending == TOLD_TO_END) {
		if (now >= w->patience_ends_ns)
			w->ending = LEFT;
		return;
	}
	if (!w->hang.bound_ns || now - w->hang.looked_ns < hang_pause_ns(&w->hang))
		return;
	tasks_look(&tasks, w->child);
	if (tasks.stopped)
		hang_step(&w->hang, w->hang.expected_ns, now);
	read_samples(w, samples);
	found = hang_look(&w->hang, samples, tasks.cpu_ns, now);
	if (found != HANG_NONE && !tasks.stopped)
		end_what_hangs(w, found);
}

static void pass_signal_on(struct supervisor *w)
{
	int number = *w->o->stop;

	if (!number || w->ending != GOES_ON)
		return;
	kill(w->child, number);
	w->ending = ASKED_TO_END;
}

/* Left for finish() to wait for. */
static bool has_ended(const struct supervisor *w)
{
	siginfo_t info = {0};

	return !waitid(P_PID, (id_t)w->child, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* Until the child has ended, true, or is given up. */
static bool watch(struct supervisor *w)
{
	struct pollfd fds[] = {{w->fd, POLLIN, 0}, {w->child_fd, POLLIN, 0}};

	for (;;) {
		uint64_t pause = MIN(hang_pause_ns(&w->hang), NS_PER_S);
		bool ended;

		/* A signal that comes just before waits for the end of the pause. */
		poll(fds, 2, (int)(pause / NS_PER_MS));
		ended = has_ended(w);
		take_packets(w);
		if (ended)
			return true;
		if (w->o->question && *w->o->question)
			answer_question(w);
		pass_signal_on(w);
		look(w);
		if (w->ending == LEFT)
			return false;
	}
}

/* A run that cannot say so itself has failed. */
static void fail_bundle(const struct supervisor *w)
{
	_cleanup_(bundle_writer_freep) struct bundle_writer *bundle = NULL;
	_cleanup_(err_clear) struct err e = {0};
	int r;

	if (!w->bundle)
		return;
	r = bundle_open(&bundle, w->bundle, &e);
	if (!r)
		r = bundle_finish(bundle, BUNDLE_FAILED, w->hung, &e);
	if (r)
		log_line(w->o->log, LOG_WARNING, "%s", err_message(&e));
}

static int explain_hang(const struct supervisor *w, struct err *e)
{
	const char *go_on = w->bundle ? "; go on with \"run --resume\"" : "";

	if (w->ending == LEFT)
		return err_say(e, ETIMEDOUT,
			"hung in %s; process %d cannot be ended and keeps the devices until "
			"they answer or the system is started anew%s",
			w->hung, (int)w->child, go_on);
	if (!w->end)
		return err_say(e, ETIMEDOUT,
			"hung in %s; its process was killed, and what it has left is put in "
			"order by \"run --resume\" and \"run --restore\"", w->hung);
	return err_say(e, ETIMEDOUT, "hung in %s; then it could be ended (%s)%s", w->hung,
		w->error ? w->error : "", go_on);
}

static int explain_end(int wait_status, struct err *e)
{
	if (WIFSIGNALED(wait_status))
		return err_say(e, EIO,
			"the process of the run was ended by signal %d (%s); go on with \"run "
			"--resume\"",
			WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	return err_say(e, EIO, "the process of the run has ended without a result");
}

/* What the child returned becomes what we return. */
static int adopt_end(struct supervisor *w, struct run_outcome *outcome, struct err *e)
{
	int r = (int)json_integer_value(json_object_get(w->end, "r"));

	if (json_is_true(json_object_get(w->end, "bundle")))
		outcome->bundle = take_ptr(w->bundle);
	outcome->audit_failed = json_is_true(json_object_get(w->end, "audit_failed"));
	outcome->inconclusive = json_is_true(json_object_get(w->end, "inconclusive"));
	if (!r)
		return 0;
	err_say(e, (int)json_integer_value(json_object_get(w->end, "code")), "%s",
		w->error ? w->error : "");
	e->kind = (enum err_kind)json_integer_value(json_object_get(w->end, "kind"));
	return r;
}

static int conclude(struct supervisor *w, int wait_status, struct run_outcome *outcome,
	struct err *e)
{
	int r;

	if (w->hung && w->end && json_integer_value(json_object_get(w->end, "kind")) ==
					  ERR_NEEDS_RECOVER)
		return adopt_end(w, outcome, e);
	if (w->hung && (!w->end || json_integer_value(json_object_get(w->end, "r")))) {
		r = explain_hang(w, e);
		if (!w->end)
			fail_bundle(w);
		return r;
	}
	return w->end ? adopt_end(w, outcome, e) : explain_end(wait_status, e);
}

static int finish(struct supervisor *w, struct run_outcome *outcome, struct err *e)
{
	const char *state;
	int wait_status = 0, r;

	if (w->ending != LEFT)
		while (waitpid(w->child, &wait_status, 0) < 0 && errno == EINTR)
			;
	r = conclude(w, wait_status, outcome, e);
	state = !r ? "done" : e->kind == ERR_INTERRUPTED ? "interrupted" : "failed";
	if (outcome->bundle && !w->bundle)
		w->bundle = strdup(outcome->bundle);
	json_object_del(w->status, "estimated_end_wall_ns");
	json_object_set_new(
		w->status, "ended_wall_ns", json_integer((json_int_t)clock_wall_ns()));
	write_status(w, state, r ? err_message(e) : NULL);
	if (r && w->bundle && !outcome->bundle)
		outcome->bundle = take_ptr(w->bundle);
	return r;
}

static int start(struct supervisor *w, struct err *e)
{
	int pair[2], r = packets_open(pair, e);

	if (r)
		return r;
	fflush(NULL);
	w->child = fork();
	if (w->child == 0) {
		close(pair[0]);
		carry_out(w->o, pair[1]);
		exit(0);
	}
	r = w->child < 0 ? -errno : 0;
	close(pair[1]);
	w->fd = pair[0];
	/* Linux 5.3; before it the end is seen a pause later. */
	if (!r)
		w->child_fd = pidfd_open(w->child, 0);
	return r ? err_set(e, -r, "start the process of the run") : 0;
}

int run_supervised(
	const struct run_options *o, struct run_outcome *outcome, struct err *e)
{
	struct supervisor w = {.o = o, .fd = -1, .child_fd = -1, .inhibit = INHIBIT_NONE};
	_cleanup_free_ char *why = NULL;
	int r;

	*outcome = (struct run_outcome){0};
	hang_init(&w.hang, o->experiment->hang_ns, clock_now_ns());
	r = start(&w, e);
	if (!r) {
		if (asprintf(&why, "experiment %s", o->experiment->name) < 0)
			why = NULL;
		w.inhibit = inhibit_begin(why ? why : "experiment");
		watch(&w);
		inhibit_end(&w.inhibit);
		r = finish(&w, outcome, e);
	}
	closep(&w.fd);
	closep(&w.child_fd);
	json_decref(w.status);
	json_decref(w.end);
	free(w.bundle);
	free(w.progress);
	free(w.hung);
	free(w.error);
	return r;
}
