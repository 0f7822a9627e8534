#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# fio-shared.sh: runs one job on all servers at once, and prints the sum of what they did.
# See fio-shared.ini.
set -eu
work=$(mktemp -d)
own=
# shellcheck disable=SC2317,SC2329 # the trap calls it
finish() {
    # A server has a child for each client, which outlives it.
    for pid in $own; do kill -s TERM -- "-$pid" 2>/dev/null || :; done
    for pid in $own; do
        tries=0
        while kill -s 0 -- "-$pid" 2>/dev/null && [ $tries -lt 50 ]; do
            tries=$((tries + 1))
            sleep 0.1
        done
        kill -s KILL -- "-$pid" 2>/dev/null || :
        wait "$pid" 2>/dev/null || :
    done
    rm -rf "$work"
    rm -f "$DIRECTORY"/fio-shared.*
}
DIRECTORY=${DIRECTORY:-$JBDLAB_DIR}
trap finish EXIT
trap 'exit 143' TERM
trap 'exit 130' INT

# listening PORT: does somebody?
listening() {
    perl -MIO::Socket::INET -e '
        exit !IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $ARGV[0], Timeout => 1)
        ' "$1" 2>/dev/null
}

# A port that nobody listens on, as the kernel gives it.
free_port() {
    perl -MIO::Socket::INET -e '
        print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'
}

if [ -z "$SERVERS" ]; then
    for i in 1 2; do
        port=$(free_port)
        mkdir "$work/$i"
        (cd "$work/$i" && exec setsid fio --server="127.0.0.1,$port" >/dev/null 2>&1) &
        own="$own $!"
        SERVERS="$SERVERS 127.0.0.1,$port"
        tries=0
        until listening "$port"; do
            tries=$((tries + 1))
            [ $tries -lt 600 ] || { echo "fio --server does not listen" >&2; exit 1; }
            sleep 0.1
        done
    done
fi

# One job file each, because each writes a file of its own.
set --
n=0
for server in $SERVERS; do
    n=$((n + 1))
    cat >"$work/$n.fio" <<END
[shared]
directory=$DIRECTORY
filename=fio-shared.$n
rw=$RW
bs=$BS
size=$SIZE
runtime=$RUNTIME
time_based=1
fsync=$FSYNC
ioengine=psync
randseed=$((JBDLAB_SEED + n))
thread=1
END
    set -- "$@" "--client=$server" "$work/$n.fio"
done
status=0
fio --output-format=json "$@" >"$work/out" 2>"$work/messages" || status=$?
cat "$work/out" # kept with the run
if [ $status != 0 ]; then
    cat "$work/messages" >&2
    exit $status
fi
perl -MJSON::PP -e '
    local $/;
    my ($text, $wanted) = (<STDIN>, $ARGV[0]);
    $text =~ s/\A[^{]*//;                   # what fio says before
    my $all = JSON::PP->new->decode($text)->{client_stats};
    my @own = grep { $_->{jobname} ne "All clients" } @$all;
    die "figures of " . @own . " servers, not $wanted\n" if @own != $wanted;
    my ($iops, $rate, $time, $ops, $max, $sync, $syncs, $slowest) = (0) x 8;
    for my $job (@own) {
        die "$job->{hostname}: error $job->{error}\n" if $job->{error};
        my ($w, $s) = ($job->{write}, $job->{sync});
        $iops += $w->{iops};
        $rate += $w->{bw_bytes};
        $ops += $w->{total_ios};
        $time += $w->{total_ios} * $w->{clat_ns}{mean};
        $max = $w->{clat_ns}{max} if $w->{clat_ns}{max} > $max;
        $syncs += $s->{total_ios};
        $sync += $s->{total_ios} * $s->{lat_ns}{mean};
        $slowest = $w->{iops} if !$slowest || $w->{iops} < $slowest;
    }
    die "nothing was written\n" if !$ops;
    printf "servers %d\nwrite operations %.3f\nwrite rate %.3f\n", scalar @own, $iops, $rate;
    printf "write latency_mean %.3f\nwrite latency_max %.3f\nwrite slowest %.3f\n",
        $time / $ops, $max, $slowest;
    printf "write sync_mean %.3f\n", $syncs ? $sync / $syncs : 0;
' "$n" <"$work/out"
