/* SPDX-License-Identifier: MIT */
/* libm.h: which bits the mathematics of the C library gives here. */
#pragma once

#include "base/base.h"

/* "glibc 2.36, results 1f3a9c02": the library, and the start of a hash over what its functions
 * return for some thousand arguments. It picks variants by the CPU, which round differently and
 * have no names, so they are told apart by what they return. */
const char *libm_identify(struct arena *a);
