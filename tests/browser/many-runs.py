#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle of 10,000 runs: two arms and two workloads in 2500 blocks.

    many-runs.py DIR [BLOCKS]
"""

import hashlib
import json
import math
import os
import random
import sys

BLOCKS = int(sys.argv[2]) if len(sys.argv) > 2 else 2500
PLAN = "[experiment]\nname = many-runs\n"
LATENCIES = ("mean", "p50", "p90", "p95", "p99", "p999", "max")


def histogram(scale):
    counts = {}
    for _ in range(60):
        value = 1 << int(random.gauss(math.log2(scale), 1.5))
        counts[value] = counts.get(value, 0) + 100
    values = sorted(counts)
    return {"count": sum(counts.values()), "sum_ns": sum(v * counts[v] for v in values),
            "over_2s": 0, "over_10s": 0, "buckets": [[v, counts[v]] for v in values],
            "min_ns": values[0], "max_ns": values[-1]}


def phase(factor):
    rate = 1e7 * factor * random.lognormvariate(0, 0.05)
    metrics = [("rate", "bytes_per_second", "higher_is_better", rate),
               ("operations", "operations_per_second", "higher_is_better", rate / 4096)]
    metrics += [("latency_" + name, "nanoseconds", "lower_is_better",
                 1e13 / rate * random.lognormvariate(0, 0.1)) for name in LATENCIES]
    return {"name": "write", "title": "Write", "cache": "dropped",
            "counters": {"threads": 1, "requested_bytes": 67108864, "block_bytes": 4096,
                         "bytes": 67108864, "operations": 16384,
                         "wall_ns": int(67108864 / rate * 1e9), "user_ns": 15000000,
                         "system_ns": 75000000, "syncs": 16384},
            "metrics": [dict(zip(("name", "unit", "direction", "value"), m)) for m in metrics],
            "latency": histogram(4e6 / factor)}


def main():
    out = sys.argv[1]
    os.makedirs(out)
    random.seed(2010)
    arms = [{"name": name, "placement": placement, "mount": "data=ordered"} for name, placement
            in (("inline", "inline,size=64M"), ("ssd", "external=/dev/sdk1,size=64M"))]
    bundle = {"schema": "jbdlab-bundle/1", "name": "many-runs", "version": "0.1",
              "created": "2010-11-30T20:00:00Z", "created_wall_ns": 1291147200000000000,
              "state": "complete", "reason": "", "seed": 2010, "blocks": BLOCKS,
              "primary": "sync/write/rate", "arms": arms,
              "plan_sha256": hashlib.sha256(PLAN.encode()).hexdigest()}
    with open(out + "/bundle.json", "w") as file:
        json.dump(bundle, file)
    with open(out + "/plan.ini", "w") as file:
        file.write(PLAN)
    with open(out + "/runs.jsonl", "w") as file:
        for block in range(BLOCKS):
            for position, arm in enumerate(random.sample(["inline", "ssd"], 2)):
                for workload in ("sync", "dd"):
                    factor = 2.9 if (workload, arm) == ("sync", "ssd") else 1
                    run = {"schema": "jbdlab-run/1", "workload": workload, "type": "dd",
                           "arm": arm, "block": block, "position": position,
                           "started_wall_ns": 1291147200000000000 + block * 10**9,
                           "phases": [phase(factor)]}
                    file.write(json.dumps(run, separators=(",", ":")) + "\n")


main()
