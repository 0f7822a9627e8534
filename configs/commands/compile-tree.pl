#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Creates TREES trees of FILES files in the working directory.  A directory has about 16
# files; sizes have a logarithmic normal distribution with a median of 6 KiB and a mean of
# 15 KiB, as source code has.  Equal seeds make equal trees.
use strict;
use warnings;
use Time::HiRes qw(time);

my ($trees, $files) = ($ENV{TREES}, $ENV{FILES});
my $text = join '', map { chr(32 + $_ * 7 % 95) . ($_ % 40 ? '' : "\n") } 1 .. 1 << 20;
my ($total, $slowest, $begun) = (0, undef, time);

sub normal { return sqrt(-2 * log(1 - rand)) * cos(6.283185307 * rand) }

sub make_tree {
    my ($tree) = @_;
    my ($bytes, $dir) = (0, "tree$tree");
    mkdir $dir or die "mkdir $dir: $!\n";
    for my $i (0 .. $files - 1) {
        if ($i % 16 == 0 && $i) {
            # One of three directories lies in the one before.
            $dir = rand() < .33 && length($dir) < 200 ? "$dir/d$i" : "tree$tree/d$i";
            mkdir $dir or die "mkdir $dir: $!\n";
        }
        my $size = int(6144 * exp(1.35 * normal()));
        $size = length $text if $size > length $text;
        open my $file, '>', "$dir/f$i.c" or die "create $dir/f$i.c: $!\n";
        print $file substr($text, 0, $size) or die "write $dir/f$i.c: $!\n";
        close $file or die "write $dir/f$i.c: $!\n";
        $bytes += $size;
    }
    return $bytes;
}

srand $ENV{JBDLAB_SEED};
for my $tree (1 .. $trees) {
    my $start = time;
    my $bytes = make_tree($tree);
    my $rate = $bytes / 1e6 / (time() - $start);
    $slowest = $rate if !defined $slowest || $rate < $slowest;
    $total += $bytes;
}
system('sync', '-f', '.') == 0 or die "sync failed\n";
my $seconds = time() - $begun;
printf "%.2f MB/s\n%.1f files/s\nslowest tree %.2f MB/s\n", $total / 1e6 / $seconds,
    $trees * $files / $seconds, $slowest;
