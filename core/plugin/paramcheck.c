/* SPDX-License-Identifier: MIT */
/* paramcheck.c: checks the rows of a parameter table. */
#include "plugin/paramrow.h"

/* NULL when the key is legal. */
static const char *key_fault(const peat_param *row, int i)
{
    static const char *const taken[] = {"plugin", "where", "at", "share", NULL};
    const char *key = row[i].key;
    if (!(key[0] >= 'a' && key[0] <= 'z') ||
        key[strspn(key, "abcdefghijklmnopqrstuvwxyz0123456789_")])
        return "the key is not in snake_case";
    if (names_find(taken, key) >= 0)
        return "the host needs this key itself";
    if (rows_find(row, key) != &row[i])
        return "the key occurs twice";
    return NULL;
}

static const char *field_fault(const peat_param *row, int i, size_t config_size)
{
    const struct param_type *type = row_type(&row[i]);
    if (!type)
        return "the type does not exist";
    if (type->bytes > config_size || row[i].offset > config_size - type->bytes)
        return "the field lies outside the config";
    if (row[i].offset % type->align)
        return "the field is not aligned";
    for (int j = 0; j < i; j++)
        if (row[i].offset < row[j].offset + row_type(&row[j])->bytes &&
            row[j].offset < row[i].offset + type->bytes)
            return "the field overlaps another row's";
    return NULL;
}

static const char *labels_fault(const peat_param *row)
{
    int n = names_count(row->labels);
    if (row->type != PEAT_ENUM)
        return row->labels ? "labels are for ENUM" : NULL;
    if (n == 0)
        return "ENUM needs labels";
    for (int i = 0; i < n; i++)
        if (!row->labels[i][0] || names_find(row->labels, row->labels[i]) != i)
            return "a label is empty or occurs twice";
    return NULL;
}

static const char *flags_fault(const peat_param *row)
{
    const struct param_type *type = row_type(row);
    if (row->flags &
        ~(uint32_t)(PEAT_REQUIRED | PEAT_AUTO | PEAT_PATH | PEAT_OPEN_MIN | PEAT_LATER))
        return "a flag does not exist";
    if (row->flags & PEAT_PATH && !type->text)
        return "PEAT_PATH is for STRING and STRINGS";
    if (row->flags & PEAT_LATER && !type->item && row->type != PEAT_ENUM)
        return "PEAT_LATER is for lists and ENUM";
    if (!(row->flags & PEAT_AUTO))
        return NULL;
    if (row->flags & PEAT_REQUIRED)
        return "PEAT_AUTO and PEAT_REQUIRED exclude each other";
    if (!row->automatic || !row->automatic[0])
        return "PEAT_AUTO needs `automatic`";
    if (type->number && !type->item && row_in_bounds(row, 0))
        return "0 means auto, so the bounds must exclude it";
    if (row->type == PEAT_ENUM && strcmp(row->labels[0], "auto") != 0)
        return "0 means auto, so the first label must be 'auto'";
    return row->type == PEAT_BOOL ? "PEAT_AUTO is not for BOOL" : NULL;
}

static const char *bounds_fault(const peat_param *row)
{
    if (row_has_bounds(row) && !row_type(row)->number)
        return "bounds are for numbers";
    if (row->flags & PEAT_OPEN_MIN && !row_has_bounds(row))
        return "PEAT_OPEN_MIN needs bounds";
    if (!(row->min <= row->max))
        return "the lower bound lies above the upper one";
    return NULL;
}

static const char *preset_fault(const peat_param *row)
{
    bool index = row->type == PEAT_ENUM || row->type == PEAT_BOOL;
    double last = row->type == PEAT_ENUM ? names_count(row->labels) - 1 : 1;
    if (row->flags & (PEAT_AUTO | PEAT_REQUIRED) || !row_type(row)->write)
        return row->preset == 0 ? NULL : "the preset is never used";
    bool whole = row->preset == trunc(row->preset) && fabs(row->preset) <= WHOLE_MAX;
    if (row->type != PEAT_REAL && !whole)
        return "the preset is not a whole number";
    if (index ? !(row->preset >= 0 && row->preset <= last) : !row_in_bounds(row, row->preset))
        return "the preset is out of bounds";
    return NULL;
}

static const char *row_fault(const peat_param *row, int i, size_t config_size)
{
    const char *fault = key_fault(row, i);
    if (!fault)
        fault = field_fault(row, i, config_size);
    if (!fault)
        fault = labels_fault(&row[i]);
    if (!fault)
        fault = bounds_fault(&row[i]);
    if (!fault)
        fault = flags_fault(&row[i]);
    if (!fault)
        fault = preset_fault(&row[i]);
    if (!fault && (!row[i].doc || !row[i].doc[0] || strchr(row[i].doc, '\n')))
        fault = "the doc must be one line";
    return fault;
}

peat_status params_check(const peat_param *row, size_t config_size, struct error *err)
{
    for (int i = 0; row && row[i].key; i++) {
        const char *fault = row_fault(row, i, config_size);
        if (fault)
            return error_set(err, PEAT_INVALID, "row %d ('%s') of the parameter table: %s", i + 1,
                             row[i].key, fault);
    }
    return PEAT_OK;
}
