/* SPDX-License-Identifier: MIT */
/* bench.c: builds the model that is timed, and times single matrix products. */
#include "cli/bench.h"

#include "cell/block_name.h"
#include "cell/cell.h"
#include "plugin/params.h"
#include "tensor/gemm.h"
#include "tensor/levels.h"

static double product_gflops(const struct team *team, const struct gemm *p)
{
    enum { TIMES = 5 };
    double best = (double)INFINITY;
    for (int i = 0; i < TIMES; i++) {
        double start = clock_seconds();
        gemm_run(team, p);
        best = fmin(best, clock_seconds() - start);
    }
    return 2e-9 * (double)p->m * (double)p->n * (double)p->k / best;
}

void bench_put_provider(struct json map, const struct team *team)
{
    const char *libraries, *kernels;
    gemm_identify(team, map.a, &libraries, &kernels);
    json_put_text(map, "gemm", gemm_name(team));
    json_put_text(map, "blas", libraries);
    json_put_text(map, "blas_core", kernels);
    json_put_text(map, "vectors", level_name());
}

double bench_sgemm(const struct bench_sizes *s, const struct team *team, struct arena *arena)
{
    const int64_t shape[][3] = {{512, 512, 512},
                                {1024, 1024, 1024},
                                {2048, 1024, 512},
                                {s->B * s->T, 4 * s->d, s->d},
                                {s->B * s->T, s->d, 4 * s->d}};
    double best = 0.0;
    for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
        int64_t m = shape[i][0], n = shape[i][1], k = shape[i][2];
        arena_reset(arena);
        struct tensor A = tensor_new(arena, PEAT_F32, 2, (int64_t[]){m, k});
        struct tensor B = tensor_new(arena, PEAT_F32, 2, (int64_t[]){n, k});
        struct tensor C = tensor_new(arena, PEAT_F32, 2, (int64_t[]){m, n});
        if (!A.data || !B.data || !C.data)
            continue;
        tensor_fill(&A, 0.5);
        tensor_fill(&B, 0.25);
        const struct gemm p = {.dtype = PEAT_F32,
                               .trans_b = true,
                               .m = m,
                               .n = n,
                               .k = k,
                               .alpha = 1.0,
                               .a = A.data,
                               .b = B.data,
                               .c = C.data,
                               .lda = k,
                               .ldb = k,
                               .ldc = n};
        best = fmax(best, product_gflops(team, &p));
    }
    return best;
}

void bench_put(struct json map, const char *key, double x, int decimals)
{
    double unit = pow(10.0, decimals);
    json_put_real(map, key, round(x * unit) / unit);
}

/* ---- the model ---- */

static bool find_part(struct bench_model *b, peat_kind kind, const char *name, struct part *part,
                      const void **hooks, struct error *err)
{
    const struct plugin *plugin;
    struct arena *arena = b->registry.arena;
    if (registry_find(&b->registry, kind, name, NOWHERE, &plugin, err) != PEAT_OK)
        return false;
    const peat_plugin *desc = plugin->desc;
    void *config = arena_zalloc(arena, desc->config_size + 1);
    *part = (struct part){.id = desc->id, .prefix = desc->id, .config = config};
    *hooks = desc->interface;
    return params_fill(desc->param, config, NULL, name, NULL, arena, err) == PEAT_OK;
}

static bool set_up_positional(struct bench_model *b, const char *name, struct arena *arena,
                              struct error *err)
{
    struct positional *p = &b->positional;
    const void *scheme = NULL, *combine = NULL;
    *p = (struct positional){.host = host_table(), .n_scheme = 1};
    bool found = registry_init(&b->registry, arena, NULL, err) == PEAT_OK &&
                 find_part(b, PEAT_SCHEME, name, &p->scheme[0].part, &scheme, err) &&
                 find_part(b, PEAT_COMBINE, "sum", &p->combine_part, &combine, err);
    p->scheme[0].hooks = scheme;
    p->combine = combine;
    return found;
}

static bool read_block(struct model_config *m, const char *block, struct arena *arena,
                       struct error *err)
{
    const struct json given = json_map(arena);
    json_put_text(given, "block", block);
    return params_fill(model_rows, m, block_name_filled(given.v, arena), "the model", NULL, arena,
                       err) == PEAT_OK;
}

static void set_sizes(struct model_config *m, const struct bench_sizes *s)
{
    m->d_model = s->d;
    m->n_layer = s->layers;
    m->n_head = s->heads;
    m->embed_scale = 1.0;
    m->vocab = s->V;
    m->T_train = m->T_max = s->T;
}

bool bench_model_open(struct bench_model *b, const struct bench_sizes *s, struct team *team,
                      struct arena *arena, struct error *err)
{
    struct model_config config = {0};
    if (!read_block(&config, s->block, arena, err))
        return false;
    set_sizes(&config, s);
    parallel_start();
    return gemm_start(team, s->gemm, err) == PEAT_OK &&
           (!s->bf16 || gemm_start_bf16(team, err) == PEAT_OK) &&
           set_up_positional(b, s->scheme, arena, err) &&
           model_build(&b->model, &config, &b->positional, arena, PEAT_F32, 0, false, err) ==
               PEAT_OK;
}
