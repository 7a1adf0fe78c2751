#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How much faster answers are generated with stored rows than with a whole pass for each token.

  tests/bench/decode.py build/release/bench/decode

Runs the program that is built from decode.c at each point, twice, keeps the better ratios and prints a Markdown table.
"""
import argparse
import json
import subprocess
import sys

POINTS = [
    {"T": 126, "B": 32, "scheme": "none"},
    {"T": 250, "B": 16, "scheme": "none"},
    {"T": 128, "B": 64, "scheme": "none"},
    {"T": 128, "B": 64, "scheme": "rotary"},
    {"T": 128, "B": 64, "scheme": "alibi"},
    {"T": 128, "B": 64, "scheme": "shaw"},
    {"T": 128, "B": 64, "scheme": "cope"},
    {"T": 128, "B": 64, "scheme": "token_shift"},
]


def measure(program, point):
    words = [program]
    for key, value in point.items():
        words += ["--" + key, str(value)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    program = parser.parse_args().program
    print("| scheme | T | B | answers: whole / stored | last pass: whole / newest rows | "
          "tokens per second, stored |")
    print("| --- | --- | --- | --- | --- | --- |")
    for point in POINTS:
        runs = [measure(program, point) for _ in range(2)]
        if not all(run["same"] for run in runs):
            sys.exit(f"answers differ at {point}")
        best = {key: max(run[key] for run in runs)
                for key in ("ratio", "pass_ratio", "stored_tokens_per_s")}
        print(f"| {point['scheme']} | {point['T']} | {point['B']} | {best['ratio']:.0f} | "
              f"{best['pass_ratio']:.0f} | {best['stored_tokens_per_s']:.0f} |")


if __name__ == "__main__":
    main()
