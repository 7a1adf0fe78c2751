/* SPDX-License-Identifier: MIT */
/* cmd_bench.c: peat bench step: how long a training step takes, and what sgemm alone reaches. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "autograd/ops.h"
#include "base/clock.h"
#include "base/rng.h"
#include "base/value.h"
#include "cli/cli.h"
#include "cli/verbs.h"
#include "plugin/params.h"
#include "plugin/registry.h"
#include "report/statistics.h"
#include "tensor/gemm.h"
#include "train/trainer.h"

enum { HEADS = CLI_LONG, LAYERS, THREADS, STEPS, WARMUP, JSON };

static const struct cli_option options[] = {
    {'d', "d", "N", "model width (default 128)"},
    {HEADS, "heads", "N", "attention heads (default 4)"},
    {LAYERS, "layers", "N", "blocks (default 4)"},
    {'T', "T", "N", "tokens of a sequence (default 128)"},
    {'B', "B", "N", "sequences of a batch (default 16)"},
    {'V', "V", "N", "vocabulary (default 256)"},
    {THREADS, "threads", "N", "threads (default 1)"},
    {STEPS, "steps", "N", "steps timed (default 20)"},
    {WARMUP, "warmup", "N", "steps before them (default 3)"},
    {JSON, "json", NULL, "one JSON object"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "bench",
    .usage = "step",
    .about = "Times whole training steps of a decoder with learned positions: zero gradients,\n"
             "forward, loss, backward, clip to norm 1, AdamW. gflops counts 6 operations per\n"
             "matrix parameter and token, and 12 layers d T per token for attention;\n"
             "sgemm_gflops is the most that single products of such sizes reach.",
    .option = options,
    .example = "peat bench step --d 256 --layers 4 --threads 2 --json",
};

struct sizes {
    int64_t d, heads, layers, T, B, V, threads, steps, warmup;
};

/* A model with its batch. */
struct bench {
    struct sizes s;
    struct team team;
    struct arena arena, step_arena;
    struct registry registry;
    struct positional positional;
    struct model model;
    struct train_config train;
    struct adamw adamw;
    int32_t *token, *target;
    struct error err;
};

/* ---- set-up ---- */

static peat_status find_part(struct bench *b, peat_kind kind, const char *name, struct part *part,
                             const void **hooks)
{
    const struct plugin *plugin;
    peat_status status =
        registry_find(&b->registry, kind, name, (struct place){NULL, 0, 0}, &plugin, &b->err);
    if (status != PEAT_OK)
        return status;
    const peat_plugin *desc = plugin->desc;
    void *config = arena_zalloc(&b->arena, desc->config_size + 1);
    if (!config)
        return error_set(&b->err, PEAT_NOMEM, "out of memory");
    *part = (struct part){.id = desc->id, .prefix = desc->id, .config = config};
    *hooks = desc->interface;
    return desc->param ? params_fill(desc->param, config, NULL, name, NULL, &b->arena, &b->err)
                       : PEAT_OK;
}

static peat_status set_up_positional(struct bench *b)
{
    struct positional *p = &b->positional;
    const void *scheme = NULL, *combine = NULL;
    *p = (struct positional){.host = host_table(), .n_scheme = 1};
    peat_status status = registry_init(&b->registry, &b->arena, &b->err);
    if (status == PEAT_OK)
        status = find_part(b, PEAT_SCHEME, "learned", &p->scheme[0].part, &scheme);
    if (status == PEAT_OK)
        status = find_part(b, PEAT_COMBINE, "sum", &p->combine_part, &combine);
    p->scheme[0].hooks = scheme;
    p->combine = combine;
    return status;
}

static struct model_config model_config_of(const struct sizes *s)
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

static peat_status set_up_batch(struct bench *b)
{
    int64_t n = b->s.B * b->s.T;
    uint64_t stream = rng_stream(0, "batch", "bench");
    b->token = ARENA_ARRAY(&b->arena, n, int32_t);
    b->target = ARENA_ARRAY(&b->arena, n, int32_t);
    if (!b->token || !b->target)
        return error_set(&b->err, PEAT_NOMEM, "out of memory for a batch");
    for (int64_t i = 0; i < n; i++) {
        b->token[i] = (int32_t)(rng_uniform(stream, (uint64_t)(2 * i)) * (double)b->s.V);
        b->target[i] = (int32_t)(rng_uniform(stream, (uint64_t)(2 * i + 1)) * (double)b->s.V);
    }
    return PEAT_OK;
}

static peat_status set_up(struct bench *b)
{
    struct model_config config = model_config_of(&b->s);
    parallel_start();
    peat_status status = gemm_start(&b->err);
    if (status == PEAT_OK)
        status = set_up_positional(b);
    if (status == PEAT_OK)
        status =
            model_build(&b->model, &config, &b->positional, &b->arena, PEAT_F32, 0, false, &b->err);
    if (status == PEAT_OK)
        status = set_up_batch(b);
    if (status == PEAT_OK && adamw_init(&b->adamw, &b->model.weights, &b->arena) != PEAT_OK)
        status = error_set(&b->err, PEAT_NOMEM, "out of memory for the optimiser");
    b->train = (struct train_config){
        .lr = 3e-4, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = 1.0};
    return status;
}

/* ---- steps ---- */

static peat_status run_step(struct bench *b, int64_t step)
{
    struct weights *w = &b->model.weights;
    struct model_input in = {
        .B = b->s.B, .T = b->s.T, .token = b->token, .phase = PEAT_TRAIN, .step = step};
    struct graph g;
    graph_init(&g, &b->step_arena, &b->team, PEAT_F32);
    g.reuse = true;
    peat_node *logits = model_forward(&b->model, &g, &in, NULL);
    peat_node *target =
        graph_constant(&g, PEAT_I32, 1, (const int64_t[]){b->s.B * b->s.T}, b->target);
    peat_node *loss = op_cross_entropy(&g.base, logits, target);
    if (loss) {
        weights_zero_grad(w);
        graph_backward(&g, loss);
    }
    if (graph_failed(&g))
        return error_set(&b->err, g.err.status, "%s", g.err.text);
    double scale = b->train.clip / (gradient_norm(w, &b->team) + 1e-6);
    adamw_step(&b->adamw, w, &b->train, b->train.lr, fmin(scale, 1.0), &b->team);
    arena_reset(&b->step_arena);
    return PEAT_OK;
}

static peat_status time_steps(struct bench *b, double *ms)
{
    peat_status status = PEAT_OK;
    for (int64_t i = 0; status == PEAT_OK && i < b->s.warmup + b->s.steps; i++) {
        double start = clock_seconds();
        status = run_step(b, i + 1);
        if (i >= b->s.warmup)
            ms[i - b->s.warmup] = (clock_seconds() - start) * 1e3;
    }
    return status;
}

/* ---- sgemm ---- */

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

/* The most over square products and over the model's own shapes. */
static double sgemm_gflops(struct bench *b)
{
    const struct sizes *s = &b->s;
    const int64_t shape[][3] = {{512, 512, 512},
                                {1024, 1024, 1024},
                                {2048, 1024, 512},
                                {s->B * s->T, 4 * s->d, s->d},
                                {s->B * s->T, s->d, 4 * s->d}};
    double best = 0.0;
    for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
        int64_t m = shape[i][0], n = shape[i][1], k = shape[i][2];
        arena_reset(&b->step_arena);
        struct tensor A = tensor_new(&b->step_arena, PEAT_F32, 2, (int64_t[]){m, k});
        struct tensor B = tensor_new(&b->step_arena, PEAT_F32, 2, (int64_t[]){n, k});
        struct tensor C = tensor_new(&b->step_arena, PEAT_F32, 2, (int64_t[]){m, n});
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
        best = fmax(best, product_gflops(&b->team, &p));
    }
    return best;
}

/* ---- report ---- */

static double step_flops(const struct sizes *s)
{
    double d = (double)s->d, layers = (double)s->layers;
    double matrices = layers * 12.0 * d * d + (double)s->V * d;
    return (double)(s->B * s->T) * (6.0 * matrices + 12.0 * layers * d * (double)s->T);
}

static double peak_rss_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024.0;
}

static void put(struct bench *b, struct value *map, const char *key, struct value *v)
{
    value_set(&b->arena, map, key, (struct place){NULL, 0, 0}, v);
}

/* Rounded to `decimals`: nothing here is known better. */
static void put_real(struct bench *b, struct value *map, const char *key, double x, int decimals)
{
    double unit = pow(10.0, decimals);
    put(b, map, key, value_real(&b->arena, (struct place){NULL, 0, 0}, round(x * unit) / unit));
}

static struct value *report(struct bench *b, double *ms)
{
    const struct place nowhere = {NULL, 0, 0};
    const struct sizes *s = &b->s;
    struct value *map = value_map(&b->arena, nowhere);
    const struct {
        const char *key;
        int64_t x;
    } size[] = {{"d", s->d}, {"heads", s->heads}, {"layers", s->layers},  {"T", s->T},
                {"B", s->B}, {"V", s->V},         {"threads", s->threads}};
    put(b, map, "engine", value_text(&b->arena, nowhere, "peat " PEAT_VERSION));
    for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++)
        put(b, map, size[i].key, value_int(&b->arena, nowhere, size[i].x));
    double rss = peak_rss_mib(), sgemm = sgemm_gflops(b);
    double median = stats_median(ms, (int)s->steps), gflops = step_flops(s) / median / 1e6;
    put(b, map, "precision", value_text(&b->arena, nowhere, "fp32"));
    put_real(b, map, "step_ms_median", median, 3);
    put_real(b, map, "step_ms_min", ms[0], 3); /* sorted by the median */
    put_real(b, map, "tokens_per_s", (double)(s->B * s->T) / median * 1e3, 1);
    put_real(b, map, "gflops", gflops, 2);
    put_real(b, map, "peak_rss_mib", rss, 1);
    put_real(b, map, "sgemm_gflops", sgemm, 2);
    put_real(b, map, "fraction_of_sgemm", gflops / sgemm, 3);
    return map;
}

/* On one line, so that runs can be appended to a file. */
static void print_object(const struct value *map)
{
    struct strbuf out;
    strbuf_init(&out);
    value_to_json(map, false, 0, &out);
    printf("%s\n", out.text);
    strbuf_release(&out);
}

static void print_lines(const struct value *map)
{
    for (int i = 0; i < map->n; i++) {
        char number[32];
        const struct value *v = map->item[i];
        if (v->kind != VALUE_TEXT)
            number_text(v->real, number);
        printf("%-18s %s\n", map->key[i], v->kind == VALUE_TEXT ? v->text : number);
    }
}

static int run_bench(const struct sizes *s, bool json)
{
    struct bench b = {.s = *s, .team = {(int)s->threads}};
    arena_init(&b.arena, "bench", 1 << 20);
    arena_init(&b.step_arena, "step", 1 << 20);
    double *ms = ARENA_ARRAY(&b.arena, s->steps, double);
    peat_status status = ms ? set_up(&b) : error_set(&b.err, PEAT_NOMEM, "out of memory");
    if (status == PEAT_OK)
        status = time_steps(&b, ms);
    if (status == PEAT_OK) {
        const struct value *map = report(&b, ms);
        if (json)
            print_object(map);
        else
            print_lines(map);
    }
    arena_release(&b.step_arena);
    arena_release(&b.arena);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&b.err);
}

/* The size that an option sets, and its largest value. */
static int64_t *size_of(struct sizes *s, int letter, int64_t *max)
{
    enum { MANY = 1 << 20 };
    *max = MANY;
    switch (letter) {
    case 'd':
        return &s->d;
    case 'T':
        return &s->T;
    case 'B':
        return &s->B;
    case 'V':
        return &s->V;
    case HEADS:
        return &s->heads;
    case LAYERS:
        *max = 1024;
        return &s->layers;
    case THREADS:
        *max = 1024;
        return &s->threads;
    case STEPS:
        return &s->steps;
    case WARMUP:
        return &s->warmup;
    default:
        return NULL;
    }
}

int cmd_bench(int argc, char **argv)
{
    struct cli cli;
    struct sizes s = {.d = 128,
                      .heads = 4,
                      .layers = 4,
                      .T = 128,
                      .B = 16,
                      .V = 256,
                      .threads = 1,
                      .steps = 20,
                      .warmup = 3};
    bool json = false;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        int64_t max, *size = size_of(&s, letter, &max);
        if (letter == JSON)
            json = true;
        else if (!size || !cli_whole_number(&cli, letter == WARMUP ? 0 : 1, max, size))
            return cli.status;
    }
    if (cli.n_operand != 1 || strcmp(cli.operand[0], "step") != 0)
        return cli_mistake(&command, "what is timed? there is 'step'");
    if (s.d % s.heads != 0)
        return cli_mistake(&command, "a width of %" PRId64 " does not split into %" PRId64 " heads",
                           s.d, s.heads);
    return run_bench(&s, json);
}
