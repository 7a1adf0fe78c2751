/* SPDX-License-Identifier: MIT */
/* checkparts.h: the companions of a plugin under check, written as plugins are. */
#pragma once

#include <peat/plugin.h>

struct moves {
    double stride, by;
};

/* positions: *(struct moves *)config: times the stride, plus `by`. */
extern const peat_scheme part_shift;
/* qkv: q and k behind themselves, twice as wide. */
extern const peat_scheme part_twice;
/* bias_rel: -|difference| / 2. */
extern const peat_scheme part_bias;
/* qkv: remembers q and k in *(struct passed *)config, and changes nothing. */
extern const peat_scheme part_record;
/* encode: a trained table of T_max rows; insists on the width *(int64_t *)config unless 0. */
extern const peat_scheme part_stream;
/* Adds the streams; narrower ones are filled up with zeros, wider ones cut. */
extern const peat_combine part_sum;
