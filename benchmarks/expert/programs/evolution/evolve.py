#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Evolves the weights of a cart-pole controller. Plain Python, no libraries."""
import argparse
import math
import multiprocessing
import random


def episode(weights):
    """Steps for which the controller keeps the pole upright."""
    x = v = a = w = 0.0
    a = 0.05
    for step in range(400):
        push = 10.0 if weights[0] * x + weights[1] * v + weights[2] * a + weights[3] * w > 0 else -10.0
        sine, cosine = math.sin(a), math.cos(a)
        base = (push + 0.05 * w * w * sine) / 1.1
        spin = (9.8 * sine - cosine * base) / (0.5 * (4.0 / 3.0 - 0.1 * cosine * cosine / 1.1))
        x, v = x + 0.02 * v, v + 0.02 * (base - 0.05 * spin * cosine / 1.1)
        a, w = a + 0.02 * w, w + 0.02 * spin
        if abs(a) > 1.5:  # swings back
            a, w = math.copysign(1.4, a), -0.5 * w
    return 400 - abs(x) - 100 * abs(a)


def fitness(weights):
    return sum(episode(weights) for _ in range(2)) / 2


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=5000, help="generations to evolve (default: %(default)s)")
    parser.add_argument("--population", type=int, default=48, help="candidates in a generation (default: %(default)s)")
    parser.add_argument("--workers", type=int, default=1, help="processes that evaluate (default: %(default)s)")
    options = parser.parse_args()
    rng = random.Random(1)
    mean = [0.0] * 4
    with multiprocessing.Pool(options.workers) as pool:
        for generation in range(1, options.generations + 1):
            candidates = [[m + rng.gauss(0, 0.5) for m in mean] for _ in range(options.population)]
            scores = pool.map(fitness, candidates)
            ranked = sorted(range(len(scores)), key=scores.__getitem__, reverse=True)[:8]
            mean = [sum(candidates[i][k] for i in ranked) / 8 for k in range(4)]
            print(f"generation={generation} fitness={max(scores):.3f}", flush=True)


if __name__ == "__main__":
    main()
