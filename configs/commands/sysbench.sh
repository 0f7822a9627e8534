#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
exec sysbench fileio --file-num="$FILES" --file-total-size="$SIZE" \
    --file-test-mode="$MODE" --file-fsync-freq="$SYNC_EVERY" --threads="$THREADS" \
    --time="$RUNTIME" --events=0 --percentile=99 --rand-seed="$JBDLAB_SEED" run
