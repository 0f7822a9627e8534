#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# ROWS inserts into a new database in the working directory, and how many a second.
set -eu
echo "PRAGMA journal_mode=$MODE; CREATE TABLE t (id INTEGER PRIMARY KEY, text);" |
    sqlite3 -bail db
awk -v rows="$ROWS" 'BEGIN {
    print "PRAGMA synchronous=FULL;"
    for (i = 1; i <= rows; i++)
        print "INSERT INTO t (text) VALUES (\047row " i " of a table\047);"
}' >"$JBDLAB_OUT/inserts.sql"
begun=$(date +%s%N)
sqlite3 -bail db <"$JBDLAB_OUT/inserts.sql"
ended=$(date +%s%N)
[ "$(sqlite3 db 'SELECT count(*) FROM t;')" = "$ROWS" ]
rm "$JBDLAB_OUT/inserts.sql"
awk -v rows="$ROWS" -v ns=$((ended - begun)) \
    'BEGIN { printf "%.2f inserts/s\n", rows * 1e9 / ns }'
