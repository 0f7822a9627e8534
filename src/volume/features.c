/* SPDX-License-Identifier: GPL-3.0-or-later */

/*
 * The names of features: the three sets of a volume, and those of a journal, as e2fsprogs
 * spells them.  Bits without a name come out as FEATURE_C7, FEATURE_I9 or FEATURE_R30.
 */

#include <stdio.h>
#include <string.h>

#include <e2p/e2p.h>
#include <ext2fs/ext2fs.h>

#include "core/strbuf.h"
#include "volume/volume.h"

/* libe2p numbers the sets in the order in which they stand in the superblock. */
enum { SETS = 3 };
_Static_assert(E2P_FEATURE_COMPAT == 0 && E2P_FEATURE_INCOMPAT == 1 &&
		       E2P_FEATURE_RO_INCOMPAT == 2,
	"order of the feature sets");

static void names_of(struct strbuf *b, const uint32_t sets[static SETS],
	const char *(*name)(int set, unsigned int mask))
{
	for (int set = 0; set < SETS; set++)
		for (int bit = 0; bit < 32; bit++)
			if (sets[set] >> bit & 1)
				strbuf_addf(b, "%s%s", b->length ? " " : "",
					name(set, 1u << bit));
}

static char *taken(struct strbuf *b)
{
	strbuf_add(b, "");
	return strbuf_take(b);
}

bool volume_has_feature(const struct volume_info *v, const char *feature)
{
	const uint32_t sets[SETS] = { v->feature_compat, v->feature_incompat,
		v->feature_ro_compat };
	unsigned int mask = 0;
	char name[64];
	int set;

	if (strlen(feature) >= sizeof(name))
		return false;
	strcpy(name, feature);
	if (e2p_string2feature(name, &set, &mask) || set < 0 || set >= SETS)
		return false;
	return sets[set] & mask;
}

char *volume_features(const struct volume_info *v)
{
	const uint32_t sets[SETS] = { v->feature_compat, v->feature_incompat,
		v->feature_ro_compat };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	names_of(&b, sets, e2p_feature2string);
	return taken(&b);
}

char *volume_journal_features(const struct volume_info *v)
{
	const uint32_t sets[SETS] = { v->journal.feature_compat,
		v->journal.feature_incompat, v->journal.feature_ro_compat };
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	names_of(&b, sets, e2p_jrnl_feature2string);
	return taken(&b);
}

char *volume_unknown_features(const struct volume_info *v)
{
	/* The header leaves MMP out for users of the library, which knows it. */
	const uint32_t sets[SETS] = {
		v->feature_compat & ~(uint32_t)EXT2_LIB_FEATURE_COMPAT_SUPP,
		v->feature_incompat & ~(uint32_t)(EXT2_LIB_FEATURE_INCOMPAT_SUPP |
						  EXT4_FEATURE_INCOMPAT_MMP),
		v->feature_ro_compat & ~(uint32_t)EXT2_LIB_FEATURE_RO_COMPAT_SUPP,
	};
	_cleanup_(strbuf_deinit) struct strbuf b = { 0 };

	names_of(&b, sets, e2p_feature2string);
	return b.length ? strbuf_take(&b) : NULL;
}
