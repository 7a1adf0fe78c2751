/* SPDX-License-Identifier: MIT */
/* lookfile.c: looks.json of a run directory. */
#include "grid/lookfile.h"

static const struct field fields[] = {{"look", FIELD_INT | FIELD_NEEDED},
                                      {"decided", FIELD_LIST | FIELD_NEEDED, FIELD_TEXT, NULL},
                                      {NULL}};
const struct record looks_record = {LOOKS_FILE, "format", 1, false, fields};

peat_status looks_keep(const char *dir, int look, int n, const char *const *id, struct arena *a,
                       struct error *err)
{
    struct json m = json_map(a);
    json_put_int(m, "format", looks_record.format);
    json_put_int(m, "look", look);
    struct json list = json_put_list(m, "decided");
    for (int i = 0; i < n; i++)
        json_add_text(list, id[i]);
    return json_write_file(dir, LOOKS_FILE, m.v, err);
}

peat_status looks_mark(struct rundir *r, struct arena *a, struct error *err)
{
    struct value *v = NULL;
    struct error why = {0};
    peat_status status = record_read(r->path, &looks_record, a, &v, &why);
    if (status == PEAT_NOTFOUND)
        return PEAT_OK;
    if (status != PEAT_OK)
        return error_set(err, status, "%s", why.text);
    const struct value *list = value_get(v, "decided");
    for (int i = 0; i < r->n; i++)
        if (r->cell[i].state == CELL_TODO && value_holds_text(list, r->cell[i].id))
            r->cell[i].state = CELL_DECIDED;
    return PEAT_OK;
}
