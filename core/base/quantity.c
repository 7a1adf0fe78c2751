/* SPDX-License-Identifier: MIT */
/* quantity.c: reads and writes the numbers of a cell in its files. */

#include "base/base.h"

#define QUANTITY(files, name, key, flags, ...) [Q_##name] = {files, key, flags, __VA_ARGS__},
const struct quantity quantities[QUANTITIES] = {
#include "base/quantities.inc"
};

void quantities_put(struct json map, enum quantity_file file, const double *q)
{
    for (int i = 0; i < QUANTITIES; i++) {
        const struct quantity *row = &quantities[i];
        if (!(row->files & file) || (row->flags & QUANTITY_SPARSE && !(q[i] > 0)))
            continue;
        if (row->flags & QUANTITY_WHOLE && isfinite(q[i]))
            json_put_int(map, row->key, (int64_t)q[i]);
        else
            json_put_real(map, row->key, q[i]);
    }
}

void quantities_read(const struct value *map, enum quantity_file file, double *q)
{
    for (int i = 0; i < QUANTITIES; i++) {
        const struct quantity *row = &quantities[i];
        if (row->files & file)
            q[i] = json_get_number(map, row->key);
        if (row->files & file && row->flags & QUANTITY_SPARSE && isnan(q[i]))
            q[i] = 0.0;
    }
}

bool quantity_is_timed(const char *key)
{
    for (int i = 0; i < QUANTITIES; i++)
        if (quantities[i].flags & QUANTITY_TIMED && strcmp(quantities[i].key, key) == 0)
            return true;
    return false;
}
