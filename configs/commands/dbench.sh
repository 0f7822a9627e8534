#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# dbench with the options in SYNC, each a word of its own or none.
set -eu
# shellcheck disable=SC2086 # options, split
exec dbench -t "$RUNTIME" -D "$JBDLAB_DIR" -c /usr/share/dbench/client.txt \
    $SYNC "$CLIENTS"
