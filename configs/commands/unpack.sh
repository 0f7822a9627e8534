#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
# shellcheck disable=SC2086,SC2153 # the last file that it matches
for tarball in $TARBALL; do :; done
tar -xf "$tarball"
sync -f .
