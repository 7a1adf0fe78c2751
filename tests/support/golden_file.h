/* SPDX-License-Identifier: MIT */
/* golden_file.h: what scripts of tests/golden wrote as JSON. */
#pragma once

#include "base/json.h"

/* tests/golden/<name>, in the arena. */
const struct value *golden_read(const char *name, struct arena *a);
/* NaN for null, "inf" and "-inf" as infinities. */
double golden_number(const struct value *v);
/* Equal within the relative error, or both NaN. */
void golden_near(double x, double expected, double relative, const char *what);
