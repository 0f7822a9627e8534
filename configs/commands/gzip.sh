#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# gzip.sh make: a file of SIZE bytes of numbers that follow from the seed.
# gzip.sh: compresses it.
set -eu
if [ "${1-}" = make ]; then
    awk -v seed="$JBDLAB_SEED" 'BEGIN {
        srand(seed)
        for (i = 0; i < 100000; i++)
            printf "%d %.12f %d\n", i, rand(), rand() * 1000
    }' >"$JBDLAB_OUT/part"
    while cat "$JBDLAB_OUT/part"; do :; done 2>/dev/null |
        head -c "$SIZE" >file
    rm "$JBDLAB_OUT/part"
    [ -s file ]
else
    gzip -c file >file.gz
    sync file.gz
fi
