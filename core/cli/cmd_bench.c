/* SPDX-License-Identifier: MIT */
/* cmd_bench.c: peat bench step|ops|grid. */
#include <inttypes.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/cli_apart.h"
#include "cli/verbs.h"

enum { HEADS = CLI_LONG, LAYERS, THREADS, STEPS, WARMUP, SCHEME, GEMM, PRECISION, JSON };

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
    {SCHEME, "scheme", "NAME", "positional scheme (default learned)"},
    {GEMM, "gemm", "NAME", "what multiplies: auto, openblas, onednn (default auto)"},
    {PRECISION, "precision", "NAME", "of step's products: fp32, bf16 (default fp32)"},
    {JSON, "json", NULL, "one JSON object"},
    {0, NULL, NULL, NULL},
};

static const struct cli_command command = {
    .name = "bench",
    .usage = "step|ops|grid",
    .about = "step  Times whole training steps of a decoder: zero gradients, forward, loss,\n"
             "      backward, clip to norm 1, AdamW. gflops counts 6 operations per matrix\n"
             "      parameter and token, and 12 layers d T per token for attention;\n"
             "      sgemm_gflops is the most that single products of such sizes reach; weights\n"
             "      is the SHA-256 of the trained weights, the same at any number of threads.\n"
             "ops   Times each operation by itself, forward and backward, beside the plain\n"
             "      double-precision one, what copying memory reaches, and sgemm.\n"
             "grid  Times a small experiment of 16 cells with one and with two jobs.\n"
             "On a machine that does other work, set GOMP_SPINCOUNT=1000 for more than one thread.",
    .option = options,
    .example = "peat bench step --d 256 --layers 4 --threads 2 --json",
};

/* The size that an option sets, and its largest value. */
static int64_t *size_of(struct bench_sizes *s, int letter, int64_t *max)
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

struct step_bench {
    const struct bench_sizes *sizes;
    bool json;
};

static int step_apart(void *ctx, struct trail *trail)
{
    const struct step_bench *b = ctx;
    (void)trail;
    return bench_step(b->sizes, b->json);
}

static int run_named(const char *what, const struct bench_sizes *s, bool json)
{
    struct step_bench step = {s, json};
    if (strcmp(what, "step") == 0)
        return cli_apart(step_apart, &step);
    if (strcmp(what, "ops") == 0)
        return bench_ops(s, json);
    if (strcmp(what, "grid") == 0)
        return bench_grid(s, json);
    return cli_mistake(&command, "there is 'step', 'ops' and 'grid', not '%s'", what);
}

int cmd_bench(int argc, char **argv)
{
    struct cli cli;
    struct bench_sizes s = {.d = 128,
                            .heads = 4,
                            .layers = 4,
                            .T = 128,
                            .B = 16,
                            .V = 256,
                            .threads = 1,
                            .steps = 20,
                            .warmup = 3,
                            .scheme = "learned",
                            .gemm = "auto"};
    bool json = false;
    cli_open(&cli, &command, argc, argv);
    for (int letter; (letter = cli_next(&cli)) != CLI_END;) {
        int64_t max, *size = size_of(&s, letter, &max);
        if (letter == JSON)
            json = true;
        else if (letter == SCHEME)
            s.scheme = cli.argument;
        else if (letter == GEMM)
            s.gemm = cli.argument;
        else if (letter == PRECISION && strcmp(cli.argument, "fp32") == 0)
            s.bf16 = false;
        else if (letter == PRECISION && strcmp(cli.argument, "bf16") == 0)
            s.bf16 = true;
        else if (letter == PRECISION)
            return cli_mistake(&command, "precision '%s' is neither fp32 nor bf16", cli.argument);
        else if (!size || !cli_whole_number(&cli, letter == WARMUP ? 0 : 1, max, size))
            return cli.status;
    }
    if (cli.n_operand != 1)
        return cli_mistake(&command, "what is timed? there is 'step', 'ops' and 'grid'");
    if (s.d % s.heads != 0)
        return cli_mistake(&command, "a width of %" PRId64 " does not split into %" PRId64 " heads",
                           s.d, s.heads);
    return run_named(cli.operand[0], &s, json);
}
