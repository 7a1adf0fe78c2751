/* SPDX-License-Identifier: MIT */
/* paramread.h: a parameter from what the user wrote; for params.c. */
#ifndef PLUGIN_PARAMREAD_H
#define PLUGIN_PARAMREAD_H

#include "paramrefuse.h"

/* Into the row's field of f->config; PEAT_INVALID: f->err says what is allowed. */
peat_status param_read(const struct filling *f, const peat_param *row, const struct value *v);

#endif
