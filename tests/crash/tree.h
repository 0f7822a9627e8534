/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All files of a mounted volume, remembered, to be compared with what is there later.
 */
#pragma once

#include "common.h"

struct tree;

/* tree_read() - remembers everything below @root. Return: an owned tree. */
struct tree *tree_read(const char *root);
void tree_free(struct tree *t);
uint32_t tree_count(const struct tree *t);

/*
 * tree_differs() - compares what is below @root now: names, types, modes, owners, links,
 * sizes, times of change, link targets and every byte.
 * @may_have_more: names that are not in the tree are accepted (they were added on
 * purpose). Return: an owned text with the first difference, or NULL if there is none.
 */
char *tree_differs(const struct tree *t, const char *root, bool may_have_more);
