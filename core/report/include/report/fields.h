/* SPDX-License-Identifier: MIT */
/* fields.h: earlier names of base/json.h, for what has not moved yet. */
#ifndef REPORT_FIELDS_H
#define REPORT_FIELDS_H

#include <math.h>
#include <string.h>

#include "base/jsonfile.h"

#define field_number json_get_number
#define field_true   json_get_bool
#define field_count  json_get_count

#endif
