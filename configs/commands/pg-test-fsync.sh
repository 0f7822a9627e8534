#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pg_test_fsync has many sections that take their time; only the first is wanted, one
# write with one sync.  When the next begins, the program is ended.
set -eu
for program in /usr/lib/postgresql/*/bin/pg_test_fsync; do :; done
rm -f "$JBDLAB_OUT/pipe" # of a run that was cut off
mkfifo "$JBDLAB_OUT/pipe"
stdbuf -oL "$program" -s "$RUNTIME" -f "$JBDLAB_DIR/file" >"$JBDLAB_OUT/pipe" &
pid=$!
sed -u '/two 8kB writes/q' <"$JBDLAB_OUT/pipe"
kill "$pid" 2>/dev/null || true
wait "$pid" || true
rm "$JBDLAB_OUT/pipe"
