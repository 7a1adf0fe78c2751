/* SPDX-License-Identifier: MIT */
/* table_formats.h: the numbers of a table as text and bytes. */
#ifndef INSPECT_TABLE_FORMATS_H
#define INSPECT_TABLE_FORMATS_H

#include "inspect/scheme_table.h"

/* Columns that do not fit the width are left out. */
void scheme_table_text(const struct scheme_table *t, const char *name, int width,
                       struct strbuf *out);
void scheme_table_csv(const struct scheme_table *t, struct strbuf *out);
void scheme_table_npy(const struct scheme_table *t, struct strbuf *out);

#endif
