/* SPDX-License-Identifier: MIT */
/* bench_model.c: a decoder with one scheme and sum. */
#include "cli/bench_model.h"

#include "nn/host.h"
#include "plugin/params.h"
#include "tensor/gemm.h"

static peat_status find_part(struct bench_model *b, peat_kind kind, const char *name,
                             struct part *part, const void **hooks, struct error *err)
{
    const struct plugin *plugin;
    struct arena *arena = b->registry.arena;
    peat_status status = registry_find(&b->registry, kind, name, NOWHERE, &plugin, err);
    if (status != PEAT_OK)
        return status;
    const peat_plugin *desc = plugin->desc;
    void *config = arena_zalloc(arena, desc->config_size + 1);
    *part = (struct part){.id = desc->id, .prefix = desc->id, .config = config};
    *hooks = desc->interface;
    return desc->param ? params_fill(desc->param, config, NULL, name, NULL, arena, err) : PEAT_OK;
}

static peat_status set_up_positional(struct bench_model *b, const char *name, struct arena *arena,
                                     struct error *err)
{
    struct positional *p = &b->positional;
    const void *scheme = NULL, *combine = NULL;
    *p = (struct positional){.host = host_table(), .n_scheme = 1};
    peat_status status = registry_init(&b->registry, arena, err);
    if (status == PEAT_OK)
        status = find_part(b, PEAT_SCHEME, name, &p->scheme[0].part, &scheme, err);
    if (status == PEAT_OK)
        status = find_part(b, PEAT_COMBINE, "sum", &p->combine_part, &combine, err);
    p->scheme[0].hooks = scheme;
    p->combine = combine;
    return status;
}

static struct model_config model_config_of(const struct bench_sizes *s)
{
    return (struct model_config){
        .arch = PEAT_DECODER,
        .d_model = s->d,
        .n_layer = s->layers,
        .n_head = s->heads,
        .d_ff = 4 * s->d,
        .embed_scale = 1.0,
        .vocab = s->V,
        .T_train = s->T,
        .T_max = s->T,
    };
}

peat_status bench_model_open(struct bench_model *b, const struct bench_sizes *s, struct team *team,
                             struct arena *arena, struct error *err)
{
    const struct model_config config = model_config_of(s);
    parallel_start();
    peat_status status = gemm_start(team, s->gemm, err);
    if (status == PEAT_OK && s->bf16)
        status = gemm_start_bf16(team, err);
    if (status != PEAT_OK)
        return status;
    status = set_up_positional(b, s->scheme, arena, err);
    return status == PEAT_OK
               ? model_build(&b->model, &config, &b->positional, arena, PEAT_F32, 0, false, err)
               : status;
}
