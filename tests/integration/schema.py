#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schema.py SCHEMA GOOD_DIR BAD_DIR: what `peat schema` prints, judged by python3-jsonschema.

Every experiment below GOOD_DIR fits. Of the files in BAD_DIR those in REFUSED do not: their mistakes are in names of keys,
types, bounds and names of plugins. The others are for the program, which knows what keys mean together.
"""
import json
import pathlib
import re
import sys

import jsonschema
import yaml

REFUSED = """
alias_bomb axis_without_section bad_attention_scale bad_name bad_seeds empty_axis empty_schemes fraction_as_whole
missing_name missing_plugin_key missing_version not_a_map null_axis_value old_boolean out_of_range
out_of_range_parameter override_without_set scalar_axis section_is_a_list slurm slurm_unknown text_seeds
unknown_attention unknown_axis_key unknown_eval unknown_model unknown_override unknown_parameter unknown_position
unknown_report unknown_run unknown_scheme unknown_section unknown_setting_of_axis unknown_top unknown_train
version_text version_three wrong_kind wrong_label wrong_list wrong_type zero_length
""".split()


class Loader(yaml.SafeLoader):
    """YAML 1.2's core schema: 1e-3 is a number, yes is a text."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern in (("bool", r"^(true|false)$"), ("null", r"^(null|~|)$"), ("int", r"^[-+]?[0-9]+$"),
                     ("float", r"^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")):
    Loader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(pattern), None)
Loader.add_constructor("tag:yaml.org,2002:float", lambda loader, node: float(loader.construct_scalar(node)))


def main():
    schema = json.load(open(sys.argv[1]))
    jsonschema.Draft7Validator.check_schema(schema)
    judge = jsonschema.Draft7Validator(schema)
    faults = []
    good = sorted(pathlib.Path(sys.argv[2]).rglob("*.yaml"))
    for path in good:
        first = next(judge.iter_errors(yaml.load(path.read_text(), Loader)), None)
        if first:
            best = jsonschema.exceptions.best_match([first])
            faults.append(f"{path}: {'/'.join(map(str, best.absolute_path))}: {best.message[:200]}")
    bad = {path.stem: path for path in pathlib.Path(sys.argv[3]).glob("*.yaml")}
    for name in REFUSED:
        if judge.is_valid(yaml.load(bad[name].read_text(), Loader)):
            faults.append(f"{name}: fits")
    print(f"{len(good)} experiments fit, {len(REFUSED)} of {len(bad)} bad ones are refused")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults or len(good) < 30 else 0


if __name__ == "__main__":
    sys.exit(main())
