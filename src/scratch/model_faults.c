/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What a modelled disk does wrong; see model_faults.h. */

#include "scratch/model_faults.h"

#include <errno.h>
#include <string.h>

#include "core/macros.h"

void model_faults_set(struct model_faults *f, const struct model_parameters *p)
{
	const struct model_faults_stats stats = f->stats;

	*f = (struct model_faults){ .p = *p, .stats = stats };
}

void model_faults_count_anew(struct model_faults *f, uint64_t now_ns)
{
	const uint64_t untrue = f->stats.untrue;

	memset(f->seen, 0, sizeof(f->seen));
	f->seen_bad = 0;
	if (f->hang_until_ns <= now_ns)
		f->hang_until_ns = 0;
	if (f->presence == DISK_BACK)
		f->presence = DISK_HERE;
	f->stats = (struct model_faults_stats){ .untrue = untrue };
}

static uint64_t seen_in_all(const struct model_faults *f)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < MODEL_KINDS; i++)
		sum += f->seen[i];
	return sum;
}

/* Is request number n one of those from the first on, as many as fail_times says? */
static bool is_hit(const struct model_faults *f, uint64_t first, uint64_t n)
{
	return first && n >= first && (!f->p.fail_times || n - first < f->p.fail_times);
}

static bool is_bad_place(const struct model_faults *f, const struct model_request *r)
{
	return (r->kind == MODEL_READ || r->kind == MODEL_WRITE) &&
	       r->offset < f->p.bad_at + f->p.bad_bytes &&
	       r->offset + r->bytes > f->p.bad_at;
}

static bool fails(struct model_faults *f, const struct model_request *r)
{
	const uint64_t first[MODEL_KINDS] = { [MODEL_READ] = f->p.fail_read,
		[MODEL_WRITE] = f->p.fail_write, [MODEL_FLUSH] = f->p.fail_flush };

	if (is_hit(f, first[r->kind], f->seen[r->kind]))
		return true;
	return is_bad_place(f, r) && is_hit(f, 1, ++f->seen_bad);
}

static bool is_ignored(struct model_faults *f, const struct model_request *r)
{
	uint64_t n = f->seen[r->kind];

	if (r->kind == MODEL_WRITE && is_hit(f, f->p.drop_write, n)) {
		f->stats.dropped_writes++;
		f->stats.dropped_bytes += r->bytes;
	} else if (r->kind == MODEL_FLUSH && f->p.lie_flush && n >= f->p.lie_flush) {
		f->stats.unmade_flushes++;
	} else {
		return false;
	}
	f->stats.untrue++;
	return true;
}

static uint64_t delay(struct model_faults *f, uint64_t n, uint64_t now_ns, uint64_t due_ns)
{
	if (f->p.slow && n >= f->p.slow)
		due_ns += f->p.slow_by_ns;
	if (f->p.hang && !f->hang_until_ns && n >= f->p.hang)
		f->hang_until_ns = f->p.hang_ns ? now_ns + f->p.hang_ns : UINT64_MAX;
	return MAX(due_ns, f->hang_until_ns);
}

struct model_fault model_faults_take(struct model_faults *f, const struct model_request *r,
	uint64_t due_ns)
{
	struct model_fault fault = { 0 };
	uint64_t n;

	f->seen[r->kind]++;
	n = seen_in_all(f);
	fault.due_ns = delay(f, n, r->seen_ns, due_ns);
	if (f->p.vanish && f->presence == DISK_HERE && n >= f->p.vanish) {
		f->presence = DISK_GONE;
		fault.vanishes = true;
	}
	if (f->presence == DISK_GONE || fails(f, r))
		fault.error = EIO;
	else
		fault.ignored = is_ignored(f, r);
	return fault;
}

uint64_t model_faults_wake(struct model_faults *f, uint64_t now_ns)
{
	uint64_t until_ns = f->hang_until_ns;

	if (f->presence == DISK_GONE)
		f->presence = DISK_BACK;
	if (until_ns <= now_ns)
		return 0;
	f->hang_until_ns = now_ns; /* a disk that is woken has hung until now */
	return until_ns;
}

bool model_faults_can_lose(const struct model_faults *f)
{
	return f->p.vanish || f->p.lie_flush;
}
