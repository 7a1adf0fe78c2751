/* SPDX-License-Identifier: MIT */
/* products.h: teams that multiply, by providers of the build tree. */
#pragma once

#include "tensor/parallel.h"

/* After parallel_start and gemm_start with this provider. */
struct team team_by(const char *provider, int threads);
/* By OpenBLAS, which has all products but those of bf16. */
struct team team_of(int threads);
const struct team *lone_team(void); /* one thread */
