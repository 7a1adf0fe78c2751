/* SPDX-License-Identifier: MIT */
/* class_token.c: a class token, its place in the batch and its rows. */
#include "class_token.h"

#include <string.h>

#include "autograd/ops.h"
#include "input.h"

bool model_has_class_token(const struct model_config *c)
{
    return c->head != PEAT_HEAD_TOKENS && c->pool == POOL_CLS;
}

int64_t class_token_front(const struct model_config *c)
{
    return model_has_class_token(c) && c->cls_position != CLS_FIRST;
}

static struct weight *row_declare(struct model *m, const char *name, int64_t width)
{
    peat_init init = {.kind = PEAT_INIT_NORMAL, .b = m->positional->tokens.std};
    return weights_add(&m->weights, name, 2, (int64_t[]){1, width}, init, 0);
}

void class_token_declare(struct model *m)
{
    const struct positional *p = m->positional;
    if (!model_has_class_token(&m->config))
        return;
    m->class_token = row_declare(m, "class.token", p->width[0]);
    for (int i = 0; m->config.cls_position == CLS_OWN && i < p->n_scheme; i++)
        if (p->scheme[i].hooks->encode)
            m->class_row[i] = row_declare(
                m, arena_printf(m->arena, "class.%s", p->scheme[i].part.prefix), p->scheme[i].d);
}

/* [B,T] with `first` before each row, or with what the row starts with where first is NULL. */
static void *led(struct graph *g, const void *array, size_t each, int64_t B, int64_t T,
                 const void *first)
{
    const unsigned char *from = array;
    unsigned char *to = arena_try_array(g->arena, (size_t)(B * (T + 1)), each);
    for (int64_t b = 0; to && b < B; b++) {
        const unsigned char *row = from ? from + (size_t)(b * T) * each : NULL;
        unsigned char *out = to + (size_t)(b * (T + 1)) * each;
        memcpy(out, first ? first : row, each);
        if (row)
            memcpy(out + each, row, (size_t)T * each);
        else
            memset(out + each, 0, (size_t)T * each);
    }
    return to;
}

bool class_token_place(struct graph *g, const struct model *m, const struct model_input *in,
                       struct model_input *out)
{
    const int32_t id = (int32_t)m->config.vocab, zero = 0;
    const uint8_t yes = 1, no = 0;
    int64_t B = in->B, T = in->T;
    *out = *in;
    out->T = T + 1;
    out->T_total = in->T_total > 0 ? in->T_total + 1 : 0;
    out->special = led(g, in->special, sizeof(yes), B, T, &yes);
    bool ok = out->special != NULL;
    if (in->token)
        ok = (out->token = led(g, in->token, sizeof(id), B, T, &id)) && ok;
    if (in->segment)
        ok = (out->segment = led(g, in->segment, sizeof(zero), B, T, &zero)) && ok;
    if (in->document)
        ok = (out->document = led(g, in->document, sizeof(zero), B, T, NULL)) && ok;
    if (in->pad)
        ok = (out->pad = led(g, in->pad, sizeof(no), B, T, &no)) && ok;
    return ok || graph_no_memory(g, "a class token", 0) != NULL;
}

/* The first row of a table [n, width], or a shift [width], as [1, 1, width], scaled as tokens
 * are. */
static peat_node *scaled_row(struct model *m, struct pass *pass, struct weight *w)
{
    peat_graph *g = &pass->g->base;
    peat_node *x = weight_node(pass->g, w);
    if (w->value.rank == 2)
        x = op_slice(g, x, 0, 0, 1);
    x = op_reshape(g, x, 3, (int64_t[]){1, 1, w->value.dim[w->value.rank - 1]});
    return input_scaled(m, pass->g, x);
}

peat_node *class_token_stream(struct model *m, struct pass *pass, struct weight *table)
{
    peat_node *x = scaled_row(m, pass, table);
    return op_expand(&pass->g->base, x, 3,
                     (int64_t[]){pass->B, 1, table->value.dim[table->value.rank - 1]});
}

peat_node *class_token_position(struct model *m, struct pass *pass, int index)
{
    const int64_t dim[] = {1, 1, m->positional->scheme[index].d};
    if (m->class_row[index])
        return scaled_row(m, pass, m->class_row[index]);
    return graph_zeros(pass->g, pass->g->dtype, 3, dim);
}
