/* SPDX-License-Identifier: MIT */
/* table_formats.h: the numbers of a table as text and bytes. */
#pragma once

#include "inspect/scheme_table.h"

enum { SHEET_NAME = 64 };
/* "head 1", "row 0", "row 0, head 1": a sheet of the table. */
void scheme_table_sheet(const struct scheme_table *t, int64_t sheet, char name[SHEET_NAME]);

/* Columns that do not fit the width are left out. */
void scheme_table_text(const struct scheme_table *t, const char *name, int width,
                       struct strbuf *out);
void scheme_table_csv(const struct scheme_table *t, struct strbuf *out);
void scheme_table_npy(const struct scheme_table *t, struct strbuf *out);
