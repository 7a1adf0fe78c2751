/* SPDX-License-Identifier: MIT */
/* checkparts.h: the companions of a plugin under check, written as plugins are. */
#ifndef CHECK_CHECKPARTS_H
#define CHECK_CHECKPARTS_H

#include <peat/plugin.h>

/* positions: adds *(double *)config to all. */
const peat_scheme *part_shift(void);
/* bias_rel: -|difference| / 2. */
const peat_scheme *part_bias(void);
/* qkv: remembers q and k in *(struct record *)config, and changes nothing. */
const peat_scheme *part_record(void);
/* encode: a trained table of T_max rows; insists on the width *(int64_t *)config unless 0. */
const peat_scheme *part_stream(void);
/* Adds the streams; narrower ones are filled up with zeros, wider ones cut. */
const peat_combine *part_sum(void);

#endif
