/* SPDX-License-Identifier: MIT */
/*
 * decode.c: the time of greedy answers with stored rows, and with a whole pass for every token.
 *
 * Prompts have T/2 tokens and answers as many; `same` is true if both ways give the same answers.
 * `ratio` compares the two; `pass_ratio` compares a pass over the newest token of each sequence
 * with one over all T, each the shortest of `--steps` passes.
 *
 *   build/release/bench/decode --T 128 --B 64 --scheme rotary
 */

#include "train/decode.h"
#include "tensor/gemm.h"
#include "tool.h"
#include "train/trainer.h"

struct bench {
    const struct bench_sizes *s;
    struct team team;
    struct arena arena;
    struct bench_model of;
    struct trainer trainer;
    struct batch batch;
    int32_t *stored, *plain; /* [B, T/2] answers */
    struct error err;
};

/* Half of each row is the prompt, half the answer. */
static peat_status set_up(struct bench *b)
{
    const struct bench_sizes *s = b->s;
    if (!bench_model_open(&b->of, s, &b->team, &b->arena, &b->err))
        return b->err.status;
    if (batch_init(&b->batch, &b->arena, s->B, s->T) != PEAT_OK)
        return error_set(&b->err, PEAT_NOMEM, "out of memory for a batch");
    peat_batch *x = &b->batch.b;
    uint64_t stream = rng_stream(0, "batch", "bench");
    *x = (peat_batch){.size = x->size,
                      .B = s->B,
                      .T = s->T,
                      .token = x->token,
                      .target = x->target,
                      .segment = x->segment,
                      .document = x->document,
                      .pad = x->pad,
                      .special = x->special,
                      .sequence = x->sequence,
                      .prompt = s->T / 2,
                      .answer = s->T - s->T / 2};
    for (int64_t i = 0; i < s->B * s->T; i++)
        x->token[i] = x->target[i] = (int32_t)(rng_uniform(stream, (uint64_t)i) * (double)s->V);
    for (int64_t i = 0; i < s->B; i++)
        x->sequence[i] = i;
    b->stored = ARENA_ARRAY(&b->arena, s->B * x->answer, int32_t);
    b->plain = ARENA_ARRAY(&b->arena, s->B * x->answer, int32_t);
    static const struct train_config in_fp32 = {.precision = PRECISION_FP32};
    b->trainer = (struct trainer){.model = &b->of.model, .train = &in_fp32, .team = &b->team};
    arena_init(&b->trainer.step_arena, "step", 1 << 20);
    return PEAT_OK;
}

typedef peat_status (*decode_fn)(struct trainer *t, const peat_batch *b, int32_t *made,
                                 struct error *err);

static peat_status time_it(struct bench *b, decode_fn decode, int32_t *made, double *seconds)
{
    double start = clock_seconds();
    peat_status status = decode(&b->trainer, &b->batch.b, made, &b->err);
    *seconds = clock_seconds() - start;
    return status;
}

static peat_status run(struct bench *b, double *stored, double *plain)
{
    const char *id, *why = model_not_storable(&b->of.model, &id);
    if (why)
        return error_set(&b->err, PEAT_INVALID, "rows of '%s' cannot be stored: %s",
                         id ? id : b->s->scheme, why);
    peat_status status = time_it(b, decode_stored, b->stored, stored);
    for (int64_t i = 1; status == PEAT_OK && i < 3; i++) {
        double again = 0;
        status = time_it(b, decode_stored, b->stored, &again);
        *stored = again < *stored ? again : *stored;
    }
    return status == PEAT_OK ? time_it(b, decode_by_token, b->plain, plain) : status;
}

/* Milliseconds of a pass over the newest row of each sequence, and over all rows, at T tokens. */
struct passes {
    double newest, whole;
};

static peat_status time_pass(struct bench *b, struct stored *stored, double *least)
{
    const peat_batch *x = &b->batch.b;
    struct arena_mark mark = arena_mark(&b->trainer.step_arena);
    struct model_input in = forward_input(x, PEAT_EVAL);
    struct graph g;
    double start = clock_seconds();
    graph_init(&g, &b->trainer.step_arena, &b->team, PEAT_F32);
    g.no_grad = true;
    in.last_only = true;
    if (stored)
        model_newest(&b->of.model, &g, stored, x->T);
    else
        model_forward(&b->of.model, &g, &in, NULL);
    double ms = (clock_seconds() - start) * 1e3;
    *least = ms < *least ? ms : *least;
    peat_status status = forward_status(&g, "a pass", &b->err);
    arena_rewind(&b->trainer.step_arena, mark);
    return status;
}

/* The least of `steps` passes of each kind, which take turns. */
static peat_status time_passes(struct bench *b, struct passes *ms)
{
    const peat_batch *x = &b->batch.b;
    struct stored stored;
    struct graph g;
    const struct model_input in = forward_input(x, PEAT_EVAL);
    *ms = (struct passes){INFINITY, INFINITY};
    peat_status status = model_store(&b->of.model, &in, &b->team, &b->arena, &stored, &b->err);
    if (status != PEAT_OK)
        return status;
    graph_init(&g, &b->arena, &b->team, PEAT_F32);
    g.no_grad = true;
    model_newest(&b->of.model, &g, &stored, x->T - 1);
    status = forward_status(&g, "a pass", &b->err);
    for (int64_t i = 0; status == PEAT_OK && i < b->s->steps; i++) {
        stored.done = x->T - 1;
        status = time_pass(b, &stored, &ms->newest);
        if (status == PEAT_OK)
            status = time_pass(b, NULL, &ms->whole);
    }
    return status;
}

static struct json report(struct bench *b, double stored, double plain, const struct passes *ms)
{
    const struct bench_sizes *s = b->s;
    struct json map = json_map(&b->arena);
    int64_t tokens = s->B * b->batch.b.answer;
    json_put_int(map, "d", s->d);
    json_put_int(map, "layers", s->layers);
    json_put_int(map, "T", s->T);
    json_put_int(map, "B", s->B);
    json_put_int(map, "threads", s->threads);
    json_put_text(map, "scheme", s->scheme);
    bench_put_provider(map, &b->team);
    json_put_bool(map, "same", memcmp(b->stored, b->plain, (size_t)tokens * sizeof(int32_t)) == 0);
    bench_put(map, "stored_ms", stored * 1e3, 3);
    bench_put(map, "full_ms", plain * 1e3, 3);
    bench_put(map, "stored_tokens_per_s", (double)tokens / stored, 1);
    bench_put(map, "full_tokens_per_s", (double)tokens / plain, 1);
    bench_put(map, "ratio", plain / stored, 1);
    bench_put(map, "newest_ms", ms->newest, 3);
    bench_put(map, "whole_ms", ms->whole, 3);
    bench_put(map, "pass_ratio", ms->whole / ms->newest, 1);
    return map;
}

int main(int argc, char **argv)
{
    const struct bench_sizes s = tool_sizes(argc, argv);
    struct bench b = {.s = &s, .team = {(int)s.threads, NULL}};
    double stored = 0, plain = 0;
    struct passes ms;
    arena_init(&b.arena, "bench", 1 << 20);
    peat_status status =
        s.T < 2 ? error_set(&b.err, PEAT_INVALID, "half of a row is a prompt: --T is at least 2")
                : set_up(&b);
    if (status == PEAT_OK)
        status = run(&b, &stored, &plain);
    if (status == PEAT_OK)
        status = time_passes(&b, &ms);
    if (status == PEAT_OK)
        tool_print(report(&b, stored, plain, &ms));
    gemm_stop(&b.team);
    if (b.trainer.model)
        trainer_release(&b.trainer);
    arena_release(&b.arena);
    return status == PEAT_OK ? 0 : tool_fail(&b.err);
}
