/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The leases in "jbdlab scratch list". */

#include <errno.h>
#include <libsmartcols.h>
#include <stdio.h>

#include "cli/scratch_lease.h"
#include "core/units.h"
#include "scratch/lease_list.h"

int scratch_leases_to_json(json_t **out, struct err *e)
{
	struct lease_entry *list = NULL;
	json_t *array = json_array();
	size_t count = 0;
	int r = lease_list(&list, &count, e);

	for (size_t i = 0; !r && i < count; i++)
		if (json_array_append_new(array,
			    json_pack("{ss,ss*,ss*,sI,ss*,ss*}", "file", list[i].file,
				    "device", list[i].device, "identity",
				    list[i].identity, "size_bytes",
				    (json_int_t)list[i].size_bytes, "user", list[i].user,
				    "time", list[i].time)))
			r = err_set(e, ENOMEM, "list leases");
	lease_list_free(list, count);
	if (r) {
		json_decref(array);
		return r;
	}
	*out = array;
	return 0;
}

static int add_line(struct libscols_table *t, const struct lease_entry *l)
{
	struct libscols_line *line = scols_table_new_line(t, NULL);
	char size[16];

	units_format_bytes(l->size_bytes, size);
	return !line || scols_line_set_data(line, 0, l->device ? l->device : "-") ||
			       scols_line_set_data(line, 1, l->identity ? size : "-") ||
			       scols_line_set_data(line, 2, l->user ? l->user : "-") ||
			       scols_line_set_data(line, 3, l->time ? l->time : "-") ||
			       scols_line_set_data(line, 4,
				       l->identity ? l->identity : l->file)
		       ? -ENOMEM
		       : 0;
}

int scratch_leases_print(bool line_before, size_t *count, struct err *e)
{
	static const char *const titles[] = {"LEASED", "SIZE", "BY", "SINCE", "IDENTITY"};
	struct libscols_table *t = scols_new_table();
	struct lease_entry *list = NULL;
	int r = lease_list(&list, count, e);

	for (size_t i = 0; !r && i < ARRAY_SIZE(titles); i++)
		if (!t || !scols_table_new_column(t, titles[i], 0.1,
				  i == 1 ? SCOLS_FL_RIGHT : 0))
			r = err_set(e, ENOMEM, "list leases");
	for (size_t i = 0; !r && i < *count; i++)
		if (add_line(t, &list[i]))
			r = err_set(e, ENOMEM, "list leases");
	if (!r && *count && line_before)
		putchar('\n');
	if (!r && *count &&
		(scols_table_set_termforce(t, SCOLS_TERMFORCE_NEVER) || scols_print_table(t)))
		r = err_set(e, EIO, "print the table");
	scols_unref_table(t);
	lease_list_free(list, *count);
	return r;
}
