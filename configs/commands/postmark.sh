#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# PostMark takes a file of commands, and goes on after an error: then it failed.  So it did
# when it was out of files, for the transactions end there.
set -eu
cat >"$JBDLAB_OUT/postmark.cfg" <<END
set location $JBDLAB_DIR
set number $FILES
set transactions $TRANSACTIONS
set size $LOW $HIGH
set seed $SEED
run
quit
END
postmark "$JBDLAB_OUT/postmark.cfg" >"$JBDLAB_OUT/postmark.txt" 2>&1
cat "$JBDLAB_OUT/postmark.txt"
! grep -iE -m 3 '^ *error|out of files' "$JBDLAB_OUT/postmark.txt" >&2
