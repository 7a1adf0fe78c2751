/* SPDX-License-Identifier: MIT */
/* columns.c: text in aligned columns, measured as a terminal shows it. */
#include "cli/columns.h"

#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"

void columns_init(struct columns *t, struct arena *arena, int n)
{
    BUG_UNLESS(n > 0 && n <= COLUMNS_MAX);
    *t = (struct columns){.arena = arena, .n = n};
}

static void need(const void *memory)
{
    if (!memory)
        out_of_memory("a table");
}

static void grow(struct columns *t)
{
    int room = t->room ? 2 * t->room : 32;
    const char *const **larger = ARENA_ARRAY(t->arena, room, const char *const *);
    need(larger);
    if (t->n_row)
        memcpy(larger, t->row, (size_t)t->n_row * sizeof(*larger));
    t->row = larger;
    t->room = room;
}

void columns_add(struct columns *t, const char *const *cell)
{
    if (t->n_row == t->room)
        grow(t);
    const char **copy = ARENA_ARRAY(t->arena, t->n, const char *);
    need(copy);
    for (int i = 0; i < t->n; i++) {
        copy[i] = arena_strdup(t->arena, cell[i]);
        need(copy[i]);
    }
    t->row[t->n_row++] = copy;
}

void columns_print(const struct columns *t, const char *indent, FILE *out)
{
    size_t width[COLUMNS_MAX] = {0};
    for (int r = 0; r < t->n_row; r++)
        for (int i = 0; i < t->n; i++) {
            size_t columns = text_columns(t->row[r][i]);
            if (columns > width[i])
                width[i] = columns;
        }
    for (int r = 0; r < t->n_row; r++) {
        fputs(indent, out);
        for (int i = 0; i < t->n - 1; i++) {
            size_t gap = width[i] - text_columns(t->row[r][i]) + 2;
            fprintf(out, "%s%*s", t->row[r][i], (int)gap, "");
        }
        fprintf(out, "%s\n", t->row[r][t->n - 1]);
    }
}
