/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * From the lines of an INI file to an experiment.  Two walks over the lines: the first
 * makes the sections and sets their keys, the second makes the workloads, whose keys
 * depend on a type that may stand anywhere in the section.  Then everything that concerns
 * more than one line is checked; it is reported at the line that would be changed.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/ini_file.h"
#include "core/nearest.h"
#include "plan/experiment.h"
#include "plan/grid.h"
#include "plan/idle_volumes.h"
#include "plan/plan_keys.h"
#include "stats/plan_n.h"

struct parse {
	struct experiment *x;
	struct ini_file ini;
	struct grid grid;
	const struct ini_line *grid_header; /* NULL: there is none */
	struct err *e;
};

static int at_line(struct parse *p, const struct ini_line *line, int r)
{
	return r ? err_wrap(p->e, r, "%s:%u", line->file, line->number) : 0;
}

/* Splits "arm ssd"; *name is NULL for a section without name. */
static int find_kind(struct parse *p, const struct ini_line *line,
	enum plan_section *kind, const char **name)
{
	size_t n = strcspn(line->section, " ");
	_cleanup_free_ char *word = strndup(line->section, n);
	struct nearest near = {.word = word};

	if (!word)
		return err_set(p->e, ENOMEM, "read %s", line->file);
	*name = line->section[n] ? line->section + n + 1 : NULL;
	for (unsigned k = 0; k < SECTION_KINDS; k++) {
		if (!strcmp(word, plan_section_kinds[k].word)) {
			*kind = k;
			return 0;
		}
		nearest_offer(&near, plan_section_kinds[k].word);
	}
	return at_line(p, line,
		err_usage(p->e, "unknown section [%s]%s%s%s", line->section,
			near.best ? "; did you mean [" : "", near.best ? near.best : "",
			near.best ? "]?" : ""));
}

static int check_header(struct parse *p, const struct ini_line *line,
	const struct plan_section_kind *kind, const char *name)
{
	for (const struct ini_line *l = p->ini.lines; l < line; l++)
		if (!l->key && !strcmp(l->section, line->section))
			return err_usage(p->e,
				"[%s] is here a second time, first at %s:%u",
				line->section, l->file, l->number);
	if (!kind->named && name)
		return err_usage(p->e, "[%s] has no name", kind->word);
	if (kind->named && !name)
		return err_usage(
			p->e, "this section needs a name: [%s NAME]", kind->word);
	return name ? plan_check_name(name, p->e) : 0;
}

/* Appends a zeroed element to an array, with its name; the name is the first member of
 * every such structure. */
static void *append(void *array, size_t *count, size_t bytes, const char *name)
{
	void **items = array, *grown = reallocarray(*items, *count + 1, bytes);
	char *copy, *item;

	if (!grown)
		return NULL;
	*items = grown;
	copy = strdup(name);
	if (!copy)
		return NULL;
	item = (char *)grown + *count * bytes;
	memset(item, 0, bytes);
	memcpy(item, &copy, sizeof(copy));
	++*count;
	return item;
}

static bool add_object(struct experiment *x, enum plan_section kind, const char *name)
{
	struct plan_disk *disk;
	struct plan_volume *volume;
	struct plan_arm *arm;

	switch (kind) {
	case SECTION_DISK:
		disk = append(&x->disks, &x->disk_count, sizeof(*disk), name);
		return disk && (disk->model = strdup("none"));
	case SECTION_VOLUME:
		volume = append(&x->volumes, &x->volume_count, sizeof(*volume), name);
		return volume && (volume->mount = strdup(""));
	case SECTION_ARM:
		arm = append(&x->arms, &x->arm_count, sizeof(*arm), name);
		if (arm)
			arm->timeout_ns = PLAN_ARM_TIMEOUT_NS;
		return arm && (arm->mount = strdup("")) && (arm->levels = strdup(""));
	default:
		return true;
	}
}

static void *find_object(struct parse *p, enum plan_section kind, const char *name)
{
	struct experiment *x = p->x;

	switch (kind) {
	case SECTION_DISK:
		for (size_t i = 0; i < x->disk_count; i++)
			if (!strcmp(x->disks[i].name, name))
				return &x->disks[i];
		return NULL;
	case SECTION_VOLUME:
		for (size_t i = 0; i < x->volume_count; i++)
			if (!strcmp(x->volumes[i].name, name))
				return &x->volumes[i];
		return NULL;
	case SECTION_ARM:
		for (size_t i = 0; i < x->arm_count; i++)
			if (!strcmp(x->arms[i].name, name))
				return &x->arms[i];
		return NULL;
	case SECTION_GRID:
		return &p->grid;
	default:
		return x;
	}
}

static int set_key(struct parse *p, const struct ini_line *line,
	const struct plan_section_kind *kind, void *object)
{
	const struct ini_line *first = ini_file_find(&p->ini, line->section, line->key);
	struct nearest near = {.word = line->key};

	if (first != line)
		return err_usage(p->e, "\"%s\" is here a second time, first at %s:%u",
			line->key, first->file, first->number);
	if (kind == &plan_section_kinds[SECTION_WORKLOAD])
		return 0;
	for (size_t i = 0; i < kind->key_count; i++) {
		if (!strcmp(line->key, kind->keys[i].name)) {
			int r = kind->keys[i].set(object, line->value, p->e);

			return r ? err_wrap(p->e, r, "%s", line->key) : 0;
		}
		nearest_offer(&near, kind->keys[i].name);
	}
	return err_usage(p->e, "unknown key \"%s\" in [%s]%s%s%s", line->key,
		line->section, near.best ? "; did you mean \"" : "",
		near.best ? near.best : "", near.best ? "\"?" : "");
}

static int read_line(struct parse *p, const struct ini_line *line)
{
	enum plan_section kind = SECTION_EXPERIMENT;
	const char *name = NULL;
	int r = find_kind(p, line, &kind, &name);

	if (r)
		return r;
	if (line->key)
		return at_line(p, line,
			set_key(p, line, &plan_section_kinds[kind],
				find_object(p, kind, name)));
	r = at_line(p, line, check_header(p, line, &plan_section_kinds[kind], name));
	if (!r && !add_object(p->x, kind, name))
		r = err_set(p->e, ENOMEM, "read %s", line->file);
	if (kind == SECTION_GRID)
		p->grid_header = line;
	return r;
}

/* Every key that has no default must be there. */
static int check_required(struct parse *p, const struct ini_line *header)
{
	enum plan_section kind = SECTION_EXPERIMENT;
	const char *name = NULL;
	int r = find_kind(p, header, &kind, &name);

	for (size_t i = 0; !r && i < plan_section_kinds[kind].key_count; i++) {
		const struct plan_key *key = &plan_section_kinds[kind].keys[i];

		if (!key->default_value &&
			!ini_file_find(&p->ini, header->section, key->name))
			r = at_line(p, header,
				err_usage(p->e, "[%s] needs \"%s = %s\"", header->section,
					key->name, key->value));
	}
	return r;
}

static int add_setting(struct plan_workload *w, const char *key, char *value)
{
	char **keys = reallocarray(w->keys, w->setting_count + 1, sizeof(*keys));
	char **values = reallocarray(w->values, w->setting_count + 1, sizeof(*values));
	char *copy = strdup(key);

	if (keys)
		w->keys = keys;
	if (values)
		w->values = values;
	if (!keys || !values || !copy) {
		free(copy);
		return -ENOMEM;
	}
	keys[w->setting_count] = copy;
	values[w->setting_count++] = value;
	return 0;
}

/* The keys of the section, whatever the type. */
static const struct plan_key *find_common_key(const char *name)
{
	const struct plan_section_kind *kind = &plan_section_kinds[SECTION_WORKLOAD];

	for (size_t i = 0; i < kind->key_count; i++)
		if (!strcmp(kind->keys[i].name, name))
			return &kind->keys[i];
	return NULL;
}

static int set_workload_key(
	struct parse *p, struct plan_workload *w, const struct ini_line *line)
{
	const struct plan_key *common = find_common_key(line->key);
	_cleanup_free_ char *value = plan_resolve_value(line->value);
	int r;

	if (!value)
		return err_set(p->e, ENOMEM, "read %s", line->file);
	if (common) {
		r = common->set(w, value, p->e);
		return at_line(p, line, r ? err_wrap(p->e, r, "%s", line->key) : 0);
	}
	r = workload_set(w->workload, line->key, value, p->e);
	if (r) {
		p->e->kind = ERR_USAGE;
		return at_line(p, line, r);
	}
	r = add_setting(w, line->key, value);
	if (r)
		return err_set(p->e, -r, "read %s", line->file);
	value = NULL;
	return 0;
}

static int find_type(
	struct parse *p, const struct ini_line *header, const struct workload_type **type)
{
	const struct ini_line *line = ini_file_find(&p->ini, header->section, "type");
	struct nearest near = {.word = line ? line->value : ""};

	if (!line)
		return at_line(p, header,
			err_usage(p->e, "[%s] needs \"type = TYPE\"", header->section));
	*type = workload_type_find(line->value);
	if (*type)
		return 0;
	for (size_t i = 0; i < workload_type_count(); i++)
		nearest_offer(&near, workload_type_at(i)->name);
	return at_line(p, line,
		err_usage(p->e, "there is no workload type \"%s\"%s%s%s", line->value,
			near.best ? "; did you mean \"" : "", near.best ? near.best : "",
			near.best ? "\"?" : ""));
}

static int read_workload(struct parse *p, const struct ini_line *header)
{
	const char *name = header->section + strlen("workload ");
	const struct workload_type *type = NULL;
	struct plan_workload *w;
	int r = find_type(p, header, &type);

	if (r)
		return r;
	w = append(&p->x->workloads, &p->x->workload_count, sizeof(*w), name);
	if (!w)
		return err_set(p->e, ENOMEM, "read %s", header->file);
	w->repeat = 1;
	r = workload_new(&w->workload, type, name, p->e);
	for (size_t i = 0; !r && i < p->ini.count; i++) {
		const struct ini_line *line = &p->ini.lines[i];

		if (line->key && !strcmp(line->section, header->section) &&
			strcmp(line->key, "type"))
			r = set_workload_key(p, w, line);
	}
	if (!r) {
		r = workload_check(w->workload, p->e);
		at_line(p, header, r);
	}
	return r;
}

static bool is_workload(const struct ini_line *header)
{
	return !strncmp(header->section, "workload ", strlen("workload "));
}

/* The name of the experiment is that of the file, unless it is given. */
static int set_defaults(struct parse *p, const char *file)
{
	const char *slash = strrchr(file, '/');
	const char *base = slash ? slash + 1 : file;
	size_t n = strlen(base);

	p->x->blocks = PILOT_BLOCKS;
	p->x->hang_ns = PLAN_HANG_NS;
	plan_design_init(&p->x->design);
	if (n > 4 && !strcmp(base + n - 4, ".ini"))
		n -= 4;
	p->x->name = strndup(base, n);
	return p->x->name ? 0 : err_set(p->e, ENOMEM, "read %s", file);
}

static int read_lines(struct parse *p, const char *file)
{
	int r = set_defaults(p, file);

	for (size_t i = 0; !r && i < p->ini.count; i++)
		r = read_line(p, &p->ini.lines[i]);
	for (size_t i = 0; !r && i < p->ini.count; i++)
		if (!p->ini.lines[i].key)
			r = check_required(p, &p->ini.lines[i]);
	for (size_t i = 0; !r && i < p->ini.count; i++)
		if (!p->ini.lines[i].key && is_workload(&p->ini.lines[i]))
			r = read_workload(p, &p->ini.lines[i]);
	if (!r && p->grid_header)
		r = at_line(p, p->grid_header, grid_expand(&p->grid, p->x, p->e));
	if (!r && plan_check_name(p->x->name, p->e))
		r = err_wrap(
			p->e, -EINVAL, "%s: [experiment] needs \"name = NAME\"", file);
	if (!r)
		r = experiment_check(p->x, &p->ini, p->e);
	if (!r)
		r = plan_note_idle_volumes(p->x, p->e);
	if (r)
		experiment_deinit(p->x);
	ini_file_deinit(&p->ini);
	grid_deinit(&p->grid);
	return r;
}

int experiment_read(struct experiment *x, const char *path, struct err *e)
{
	struct parse p = {.x = x, .e = e};
	int r = ini_file_read(&p.ini, path, e);

	if (r && e)
		e->kind = ERR_USAGE;
	return r ? r : read_lines(&p, path);
}

int experiment_parse(
	struct experiment *x, const char *text, const char *name, struct err *e)
{
	struct parse p = {.x = x, .e = e};
	int r = ini_file_parse(&p.ini, text, name, e);

	return r ? r : read_lines(&p, name);
}
