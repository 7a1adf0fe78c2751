/* SPDX-License-Identifier: MIT */
/* csv_fields.h: fields and lines of comma-separated values. */
#ifndef REPORT_CSV_FIELDS_H
#define REPORT_CSV_FIELDS_H

#include "base/value.h"

/* RFC 4180: quoted where it holds a separator, quotes doubled. A line is one line: control
 * characters are as shown.h has them. */
void csv_field(struct strbuf *out, const char *text);
/* The scalars of a map, null and NaN as nothing; before them the keys when `head`. */
void csv_line(const struct value *map, bool head, struct strbuf *out);

#endif
