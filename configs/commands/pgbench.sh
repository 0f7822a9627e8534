#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# pgbench.sh init: makes a PostgreSQL cluster and pgbench's tables in JBDLAB_DIR, with
# pg_wal in JBDLAB_LAST_DIR if that is another directory.
# pgbench.sh run: starts the server, measures, stops it; prints what pgbench prints and
# percentiles of the latency in microseconds.
#
# PostgreSQL refuses to be root.  Started by root, everything runs as the user postgres,
# in a mount namespace in which the directories lie below /mnt: it could not pass the
# directories above them.  The server is a child of this script, so that it ends with it.
set -eu
for bin in /usr/lib/postgresql/*/bin; do :; done

if [ "$(id -u)" != 0 ]; then
    place=$(mktemp -d)
    trap 'rm -rf "$place"' EXIT
    ln -s "$JBDLAB_DIR" "$place/data"
    ln -s "$JBDLAB_LAST_DIR" "$place/wal"
    as_user=
elif [ -z "${IN_NAMESPACE-}" ]; then
    IN_NAMESPACE=1 exec unshare --mount sh "$0" "$@"
else
    place=/mnt
    user=postgres
    id "$user" >/dev/null 2>&1 || user=nobody
    chown "$user" "$JBDLAB_DIR" "$JBDLAB_LAST_DIR"
    exec 8<"$JBDLAB_DIR" 9<"$JBDLAB_LAST_DIR"
    mount -t tmpfs -o mode=755 none /mnt
    mkdir /mnt/data /mnt/wal
    # By descriptor, because they may have lain below /mnt themselves.
    mount -c --bind /proc/self/fd/8 /mnt/data
    mount -c --bind /proc/self/fd/9 /mnt/wal
    exec 8<&- 9<&-
    as_user="setpriv --reuid $user --regid $(id -g "$user") --clear-groups --"
fi
mkdir "$place/work"
[ -z "$as_user" ] || chown "$user" "$place/work"
export HOME="$place/work"
cd "$place/work"

# The words of as_user are split; it may be empty.
as() {
    $as_user "$@"
}

# start_server NAME FSYNC: NAME is for its log.
start_server() {
    # shellcheck disable=SC2086 # words
    $as_user "$bin/postgres" -D "$place/data/cluster" -c listen_addresses= \
        -c unix_socket_directories="$place/work" -c max_wal_size="${WAL_MB}MB" \
        -c min_wal_size=32MB -c max_connections=$((CLIENTS + 20)) -c fsync="$2" \
        >"$JBDLAB_OUT/server-$1.log" 2>&1 &
    server=$!
    tries=0
    until as "$bin/pg_isready" -q -h "$place/work"; do
        tries=$((tries + 1))
        if [ $tries = 600 ] || ! kill -0 $server 2>/dev/null; then
            tail -n 5 "$JBDLAB_OUT/server-$1.log" >&2
            exit 1
        fi
        sleep 0.1
    done
}

# With a checkpoint; what the clients said to be committed is on disk before that.
stop_server() {
    kill -INT $server
    wait $server
}

bench() {
    as "$bin/pgbench" -h "$place/work" "$@" postgres
}

case $1 in
init)
    set -- -D "$place/data/cluster" -A trust --no-locale -E UTF8 --no-sync
    [ "$JBDLAB_DIR" = "$JBDLAB_LAST_DIR" ] || set -- "$@" -X "$place/wal/pg_wal"
    as "$bin/initdb" "$@" >"$JBDLAB_OUT/initdb.txt"
    # Whoever runs us syncs the file system afterwards.
    start_server init off
    bench -i -q -s "$SCALE" >"$JBDLAB_OUT/tables.txt" 2>&1 ||
        { tail -n 5 "$JBDLAB_OUT/tables.txt" >&2; exit 1; }
    stop_server
    ;;
run)
    start_server run on
    bench -b "$SCRIPT" -c "$CLIENTS" -j "$(nproc)" -T "$RUNTIME" -l --log-prefix=log \
        --random-seed="$JBDLAB_SEED" 2>"$JBDLAB_OUT/pgbench.txt" ||
        { tail -n 5 "$JBDLAB_OUT/pgbench.txt" "$JBDLAB_OUT/server-run.log" >&2; exit 1; }
    stop_server
    cat log.* | awk '{ print $3 }' | sort -n | awk '
        { at[NR] = $1 }
        END {
            n = split("50 80 90 95 99", wanted, " ")
            for (i = 1; NR && i <= n; i++) {
                k = int((NR * wanted[i] + 99) / 100)
                print "percentile " wanted[i] " " at[k]
            }
        }'
    ;;
esac
