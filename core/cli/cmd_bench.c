/* SPDX-License-Identifier: MIT */
/* cmd_bench.c: peat bench step: times a training step, and sgemm beside it. */
#include <sys/resource.h>

#include "cli/bench.h"
#include "cli/verbs.h"
#include "maths/statistics.h"
#include "tensor/gemm.h"
#include "train/trainer.h"

struct bench {
    struct bench_sizes s;
    struct team team;
    struct arena arena, scratch;
    struct bench_model of;
    struct adamw adamw;
    int32_t *token, *target; /* [B, T] */
    double *ms, *cpu_ms;     /* [steps] */
    struct error *err;
};

static const struct train_config training = {
    .lr = 3e-4, .weight_decay = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = 1.0};

/* ---- steps ---- */

/* Random tokens. */
static bool make_batch(struct bench *b)
{
    int64_t n = b->s.B * b->s.T;
    uint64_t stream = rng_stream(0, "batch", "bench");
    b->token = ARENA_TRY_ARRAY(&b->arena, n, int32_t);
    b->target = ARENA_TRY_ARRAY(&b->arena, n, int32_t);
    if (!b->token || !b->target)
        return error_fail(b->err, PEAT_NOMEM, "out of memory for a batch");
    for (int64_t i = 0; i < n; i++) {
        b->token[i] = (int32_t)(rng_uniform(stream, (uint64_t)(2 * i)) * (double)b->s.V);
        b->target[i] = (int32_t)(rng_uniform(stream, (uint64_t)(2 * i + 1)) * (double)b->s.V);
    }
    return true;
}

static bool bench_set_up(struct bench *b)
{
    return bench_model_open(&b->of, &b->s, &b->team, &b->arena, b->err) && make_batch(b) &&
           (adamw_init(&b->adamw, &b->of.model.weights, &b->arena) == PEAT_OK ||
            error_fail(b->err, PEAT_NOMEM, "out of memory for the optimiser"));
}

/* Gradients from zero, forward, loss, backward, clip to norm 1, AdamW. */
static bool run_step(struct bench *b, int64_t step)
{
    struct weights *w = &b->of.model.weights;
    struct model_input in = {
        .B = b->s.B, .rows = {.T = b->s.T, .token = b->token}, .phase = PEAT_TRAIN, .step = step};
    struct graph g;
    graph_init(&g, &b->scratch, &b->team, PEAT_F32);
    g.reuse = true;
    peat_node *logits = model_forward(&b->of.model, &g, &in, NULL);
    peat_node *target =
        graph_constant(&g, PEAT_I32, 1, (const int64_t[]){b->s.B * b->s.T}, b->target);
    peat_node *loss = op_cross_entropy(&g.base, logits, target);
    if (loss) {
        weights_zero_grad(w);
        graph_backward(&g, loss);
    }
    if (graph_failed(&g))
        return error_fail(b->err, g.err.status, "%s", g.err.text);
    double scale = training.clip / (gradient_norm(w, &b->team) + 1e-6);
    adamw_step(&b->adamw, w, &training, training.lr, fmin(scale, 1.0), &b->team);
    arena_reset(&b->scratch);
    return true;
}

static bool time_steps(struct bench *b)
{
    for (int64_t i = 0; i < b->s.warmup + b->s.steps; i++) {
        double start = clock_seconds(), cpu = clock_cpu();
        if (!run_step(b, i + 1))
            return false;
        if (i < b->s.warmup)
            continue;
        b->ms[i - b->s.warmup] = (clock_seconds() - start) * 1e3;
        b->cpu_ms[i - b->s.warmup] = (clock_cpu() - cpu) * 1e3;
    }
    return true;
}

/* ---- report ---- */

/* The numbers of the matrices of one block. */
static double block_matrices(const struct weights *w)
{
    double n = 0;
    for (int i = 0; i < w->n; i++)
        if (strncmp(w->item[i]->name, "block.0.", 8) == 0 && w->item[i]->value.rank == 2)
            n += (double)tensor_count(&w->item[i]->value);
    return n;
}

static double step_flops(const struct bench *b)
{
    const struct bench_sizes *s = &b->s;
    double d = (double)s->d, layers = (double)s->layers;
    double matrices = layers * block_matrices(&b->of.model.weights) + (double)s->V * d;
    return (double)(s->B * s->T) * (6.0 * matrices + 12.0 * layers * d * (double)s->T);
}

static double peak_rss_mib(void)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    return (double)use.ru_maxrss / 1024.0;
}

static struct json report(struct bench *b)
{
    const struct bench_sizes *s = &b->s;
    struct json map = json_map(&b->arena);
    const struct {
        const char *key;
        int64_t x;
    } size[] = {{"d", s->d}, {"heads", s->heads}, {"layers", s->layers},  {"T", s->T},
                {"B", s->B}, {"V", s->V},         {"threads", s->threads}};
    json_put_text(map, "engine", "peat " PEAT_VERSION);
    for (size_t i = 0; i < sizeof(size) / sizeof(*size); i++)
        json_put_int(map, size[i].key, size[i].x);
    double rss = peak_rss_mib(), sgemm = bench_sgemm(s, &b->team, &b->scratch);
    double median = stats_median(b->ms, (int)s->steps), gflops = step_flops(b) / median / 1e6;
    json_put_text(map, "block", s->block);
    json_put_text(map, "scheme", s->scheme);
    bench_put_provider(map, &b->team);
    json_put_text(map, "precision", s->bf16 ? "bf16" : "fp32");
    char hash[HASH_HEX];
    weights_hash(&b->of.model.weights, NULL, hash);
    json_put_text(map, "weights", hash);
    bench_put(map, "step_ms_median", median, 3);
    bench_put(map, "step_ms_min", b->ms[0], 3); /* sorted by the median */
    bench_put(map, "step_cpu_ms_median", stats_median(b->cpu_ms, (int)s->steps), 3);
    bench_put(map, "tokens_per_s", (double)(s->B * s->T) / median * 1e3, 1);
    bench_put(map, "gflops", gflops, 2);
    bench_put(map, "peak_rss_mib", rss, 1);
    bench_put(map, "sgemm_gflops", sgemm, 2);
    bench_put(map, "fraction_of_sgemm", gflops / sgemm, 3);
    return map;
}

/* Prints one line of JSON, so that runs can be appended to a file, or a line for each number. */
static void print(struct json map, bool json)
{
    if (json)
        cli_print("%s\n", json_to_text(map.v, JSON_LINE, map.a));
    for (int i = 0; !json && i < map.v->n; i++) {
        const char *text = map.v->item[i]->text;
        int column = strlen(text) == HASH_HEX - 1 ? 15 : 18; /* so that a hash ends in column 80 */
        cli_print("%-*s %s\n", column, map.v->key[i], text);
    }
}

static int time_step(const struct cli *cli, const struct bench_sizes *s, bool json)
{
    struct bench b = {.s = *s, .team = {(int)s->threads, NULL}, .err = cli->err};
    arena_init(&b.arena, "bench", 1 << 20);
    arena_init(&b.scratch, "step", 1 << 20);
    b.ms = ARENA_ARRAY(&b.arena, s->steps, double);
    b.cpu_ms = ARENA_ARRAY(&b.arena, s->steps, double);
    if (bench_set_up(&b) && time_steps(&b))
        print(report(&b), json);
    gemm_stop(&b.team);
    arena_release(&b.scratch);
    arena_release(&b.arena);
    return CLI_DONE;
}

/* ---- the verb ---- */

enum { MANY = 1 << 20, FEW = 1024 };

static const char *const precision_words[] = {"fp32", "bf16"};

struct request {
    struct bench_sizes size;
    int precision;
    bool json;
};

static int run_bench(const struct cli *cli)
{
    struct request *q = cli->options;
    if (strcmp(cli->operand[0], "step") != 0)
        return cli_mistake(cmd_bench.name, "there is no benchmark '%s'; the only one is 'step'",
                           cli->operand[0]);
    if (q->size.d % q->size.heads != 0)
        return cli_mistake(cmd_bench.name,
                           "a width of %" PRId64 " does not split into %" PRId64 " heads",
                           q->size.d, q->size.heads);
    q->size.bf16 = q->precision == 1;
    return time_step(cli, &q->size, q->json);
}

static const struct cli_option options[] = {
    CLI_WHOLE('d', "d", "N", 1, MANY, size.d, "model width (default 128)"),
    CLI_WHOLE(0, "heads", "N", 1, MANY, size.heads, "attention heads (default 4)"),
    CLI_WHOLE(0, "layers", "N", 1, FEW, size.layers, "blocks (default 4)"),
    CLI_WHOLE('T', "T", "N", 1, MANY, size.T, "tokens of a sequence (default 128)"),
    CLI_WHOLE('B', "B", "N", 1, MANY, size.B, "sequences of a batch (default 16)"),
    CLI_WHOLE('V', "V", "N", 1, MANY, size.V, "vocabulary (default 256)"),
    CLI_WHOLE(0, "threads", "N", 1, FEW, size.threads, "threads (default 1)"),
    CLI_WHOLE(0, "steps", "N", 1, MANY, size.steps, "timed steps (default 20)"),
    CLI_WHOLE(0, "warmup", "N", 0, MANY, size.warmup, "untimed steps before those (default 3)"),
    CLI_TEXT(0, "block", "NAME", size.block, "block of the model, as model.block (default gpt2)"),
    CLI_TEXT(0, "scheme", "SCHEME", size.scheme, "positional scheme (default learned)"),
    CLI_TEXT(0, "gemm", "PROVIDER", size.gemm,
             "provider of matrix products, as run.gemm (default auto)"),
    CLI_WORD(0, "precision", "NAME", precision_words, precision,
             "precision of matrix products: fp32, bf16 (default fp32)"),
    CLI_FLAG(0, "json", json, "one JSON object"),
};

const struct cli_command cmd_bench = {
    .name = "peat bench",
    .summary = "time a training step on this machine",
    CLI_OPERANDS("step", 1, 1, "the benchmark is missing: there is 'step'"),
    CLI_ROWS(options),
    CLI_DEFAULTS(.size = BENCH_SIZES),
    .run = run_bench,
    .apart = true,
};
