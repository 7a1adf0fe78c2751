/* SPDX-License-Identifier: MIT */
/* engine.c: the process of Python that computes a cell's passes, and messages to it. */
#include "cell/engine.h"

#include <sys/socket.h>

#include "cell/batchexport.h"
#include "cell/cellmeta.h"
#include "process/python.h"
#include "train/generation.h"

const char *const engine_words[] = {ENGINE_WORDS, NULL};
const char *const device_words[] = {DEVICE_WORDS, NULL};

static const double patience_seconds = 10; /* from the end of the messages to SIGKILL */

struct engine {
    struct child child;
    int fd;
    struct arena *arena; /* lives as long as the engine */
    struct arena own;    /* of one exchange             */
    struct train_engine passes;
    const char *by;
    const struct value *formulas;
};

/* A message, or the answer to it. */
struct message {
    struct json facts; /* a map of texts */
    struct tensor_list list;
};

/* ---- the process ---- */

static bool start(struct engine *e, struct error *err)
{
    const char *const word[] = {arena_printf(e->arena, "%ld", (long)getpid())};
    int pair[2];
    char **argv = python_module("engine.py", word, 1, "run.engine: torch", e->arena, err);
    if (!argv)
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return error_fail(err, PEAT_IO, "cannot talk to PyTorch: %s", strerror(errno));
    e->fd = pair[0];
    e->child = (struct child){.argv = argv, .out = pair[1], .own_group = true};
    bool ok = child_start(&e->child, err) == PEAT_OK;
    if (!ok)
        python_start_error(&e->child, "run.engine: torch", err);
    close(pair[1]);
    return ok;
}

static void wait_for_end(struct engine *e)
{
    shutdown(e->fd, SHUT_RDWR);
    e->child.deadline = clock_seconds() + patience_seconds;
    if (!e->child.ended)
        child_wait(&e->child);
}

/* The process has said nothing, so the log has its last words. */
static bool ended(struct engine *e, struct error *err)
{
    char name[SIGNAL_NAME];
    wait_for_end(e);
    if (e->child.signal == SIGKILL)
        return error_fail(err, PEAT_NOMEM, "PyTorch was killed (out of memory?)");
    if (e->child.signal)
        return error_fail(err, PEAT_FAILED, "PyTorch was ended by %s",
                          signal_name(e->child.signal, name));
    return error_fail(err, PEAT_FAILED, "PyTorch ended with status %d", e->child.code);
}

/* ---- messages ---- */

static bool send_bytes(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        ssize_t sent = send(fd, at, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

static bool receive_bytes(int fd, void *bytes, size_t n)
{
    for (char *at = bytes; n > 0;) {
        ssize_t got = recv(fd, at, n, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool no_memory(struct error *err)
{
    return error_fail(err, PEAT_NOMEM, "out of memory for a message of PyTorch");
}

static bool send_message(struct engine *e, const struct message *m, struct error *err)
{
    size_t n;
    unsigned char *image = safetensors_image(m->list.tensor, m->list.n, m->facts.v, &n);
    const uint64_t size = n;
    if (!image)
        return no_memory(err);
    bool ok = send_bytes(e->fd, &size, sizeof(size)) && send_bytes(e->fd, image, n);
    free(image);
    return ok || ended(e, err);
}

/* The answer's tensors are in `a`. */
static bool receive_message(struct engine *e, struct arena *a, struct message *m, struct error *err)
{
    uint64_t size;
    if (!receive_bytes(e->fd, &size, sizeof(size)))
        return ended(e, err);
    char *image = malloc(size);
    if (!image)
        return no_memory(err);
    bool ok = receive_bytes(e->fd, image, size) || ended(e, err);
    *m = (struct message){.facts = {a, NULL}};
    ok = ok && safetensors_parse(image, size, "PyTorch", a, &m->list.tensor, &m->list.n,
                                 &m->facts.v, err) == PEAT_OK;
    free(image);
    const char *why = ok ? json_get_text(m->facts.v, "error") : NULL;
    if (why)
        ok = error_fail(err, json_get_text(m->facts.v, "memory") ? PEAT_NOMEM : PEAT_FAILED, "%s",
                        why);
    return ok;
}

static struct message command(struct engine *e, const char *word, struct error *err)
{
    arena_reset(&e->own);
    struct message m = {.facts = json_map(&e->own), .list = {.arena = &e->own, .err = err}};
    json_put_text(m.facts, "command", word);
    return m;
}

static void put_number(struct message *m, const char *key, int64_t number)
{
    json_put_text(m->facts, key, arena_printf(m->facts.a, "%" PRId64, number));
}

/* ---- the passes ---- */

/* Sends the step and waits for no answer: the next command reports its error. */
static bool step(void *ctx, struct trainer *t, int64_t number, struct error *err)
{
    struct engine *e = ctx;
    struct message m = command(e, "step", err);
    put_number(&m, "step", number);
    return batch_add(&m.list, t->task, &t->batch.b, "") && send_message(e, &m, err);
}

static bool numbers_of(const struct message *m, const char *name, int64_t n, double *out,
                       struct error *err)
{
    const struct named_tensor *t = safetensors_find(m->list.tensor, m->list.n, name);
    if (!t || t->tensor.rank != 1 || t->tensor.dim[0] != n)
        return error_fail(err, PEAT_FAILED, "PyTorch gave no %s of %" PRId64 " steps", name, n);
    for (int64_t i = 0; i < n; i++)
        out[i] = tensor_get(&t->tensor, i);
    return true;
}

static bool losses(void *ctx, int64_t n, double *loss, double *norm, struct error *err)
{
    struct engine *e = ctx;
    struct message m = command(e, "losses", err), answer;
    return send_message(e, &m, err) && receive_message(e, &e->own, &answer, err) &&
           numbers_of(&answer, "loss", n, loss, err) && numbers_of(&answer, "norm", n, norm, err);
}

static peat_node *node_of(const struct message *m, const char *name, int64_t rows, struct arena *a)
{
    const struct named_tensor *t = safetensors_find(m->list.tensor, m->list.n, name);
    peat_node *node = t && t->tensor.rank == 2 && t->tensor.dim[0] == rows
                          ? ARENA_TRY_ARRAY(a, 1, peat_node)
                          : NULL;
    if (node)
        *node = (peat_node){.value = t->tensor};
    return node;
}

/* Sends a command for logits with what each has; the answer is in the step arena. */
static bool ask_logits(struct engine *e, struct message *m, struct trainer *t, const peat_batch *b,
                       int64_t total, int64_t rows, struct message *answer, peat_node **logits,
                       struct error *err)
{
    put_number(m, "step", t->step);
    put_number(m, "total", total);
    if (!batch_add(&m->list, t->task, b, "") || !send_message(e, m, err) ||
        !receive_message(e, &t->step_arena, answer, err))
        return false;
    *logits = node_of(answer, "logits", rows, &t->step_arena);
    return *logits || error_fail(err, PEAT_FAILED, "PyTorch gave logits of another shape");
}

static bool forward(void *ctx, struct trainer *t, const peat_batch *b, const struct model_input *in,
                    peat_node **logits, peat_node **classes, struct error *err)
{
    struct engine *e = ctx;
    struct message m = command(e, "forward", err), answer;
    int64_t rows;
    task_targets(t->task, b, &rows);
    put_number(&m, "last_only", in->last_only);
    if (!ask_logits(e, &m, t, b, in->rows.T_total ? in->rows.T_total : b->T,
                    in->last_only ? b->B : rows, &answer, logits, err))
        return false;
    *classes = node_of(&answer, "classes", b->B, &t->step_arena);
    return true;
}

static bool newest(void *ctx, struct trainer *t, const peat_batch *b, bool first, int64_t total,
                   peat_node **logits, struct error *err)
{
    struct engine *e = ctx;
    struct message m = command(e, "newest", err), answer;
    put_number(&m, "first", first);
    return ask_logits(e, &m, t, b, total, b->B, &answer, logits, err);
}

/* ---- weights and moments ---- */

static struct named_tensor *state_of(struct trainer *t, struct arena *a, int *n)
{
    int n_moment;
    const struct weights *w = &t->model->weights;
    struct named_tensor *weight = generation_tensors(w, NULL, a, n);
    struct named_tensor *moment = generation_tensors(w, &t->adamw, a, &n_moment);
    struct named_tensor *all = ARENA_ARRAY(a, *n + n_moment, struct named_tensor);
    memcpy(all, weight, (size_t)*n * sizeof(*all));
    memcpy(all + *n, moment, (size_t)n_moment * sizeof(*all));
    *n += n_moment;
    return all;
}

static bool fetch(void *ctx, struct trainer *t, struct error *err)
{
    struct engine *e = ctx;
    struct message m = command(e, "fetch", err), answer;
    int n;
    if (!send_message(e, &m, err) || !receive_message(e, &e->own, &answer, err))
        return false;
    struct named_tensor *to = state_of(t, &e->own, &n);
    for (int i = 0; i < n; i++) {
        const struct named_tensor *from =
            safetensors_find(answer.list.tensor, answer.list.n, to[i].name);
        if (!from || !tensor_same_shape(&from->tensor, &to[i].tensor))
            return error_fail(err, PEAT_FAILED, "PyTorch gave no tensor '%s' of its shape",
                              to[i].name);
        tensor_copy(&to[i].tensor, &from->tensor);
    }
    return true;
}

bool engine_load(struct engine *e, struct trainer *t, struct error *err)
{
    struct message m = command(e, "load", err), answer;
    put_number(&m, "updates", t->adamw.t);
    m.list.tensor = state_of(t, &e->own, &m.list.n);
    t->engine = &e->passes;
    return send_message(e, &m, err) && receive_message(e, &e->own, &answer, err);
}

/* ---- opening ---- */

static void put_json(struct message *m, const char *key, const struct value *v)
{
    json_put_text(m->facts, key, json_to_text(v, JSON_CANONICAL, m->facts.a));
}

static bool build(struct engine *e, const struct cell_config *c, const struct value *config,
                  const struct assembly *s, struct engine_place place, int threads,
                  struct error *err)
{
    struct message m = command(e, "build", err), answer;
    put_json(&m, "peat_config", config);
    put_json(&m, "peat_resolved", assembly_resolved(s, &e->own));
    put_json(&m, "peat_training", weights_training(&s->model.weights, &e->own));
    put_json(&m, "plugins", cell_plugins(c, &e->own));
    json_put_text(m.facts, "engine", engine_words[place.engine]);
    json_put_text(m.facts, "device", device_words[place.device]);
    put_number(&m, "peat_step", 0);
    put_number(&m, "threads", threads);
    m.list.tensor = generation_tensors(&s->model.weights, NULL, &e->own, &m.list.n);
    if (!send_message(e, &m, err) || !receive_message(e, e->arena, &answer, err))
        return false;
    const char *files = json_text_or(answer.facts.v, "formulas", "[]");
    e->by = json_text_or(answer.facts.v, "by", "PyTorch");
    e->formulas = json_parse(e->arena, files, strlen(files), "PyTorch", err);
    return e->formulas;
}

struct engine *engine_open(const struct cell_config *c, const struct value *config,
                           const struct assembly *s, struct engine_place place, int threads,
                           struct arena *a, struct error *err)
{
    struct engine *e = ARENA_NEW(a, struct engine);
    *e = (struct engine){.fd = -1, .arena = a, .passes = {e, step, losses, forward, newest, fetch}};
    arena_init(&e->own, "message", 1 << 20);
    if (start(e, err) && build(e, c, config, s, place, threads, err))
        return e;
    engine_close(e);
    return NULL;
}

const char *engine_by(const struct engine *e)
{
    return e->by;
}

const struct value *engine_formulas(const struct engine *e)
{
    return e->formulas;
}

void engine_close(struct engine *e)
{
    if (!e)
        return;
    if (e->child.pid)
        wait_for_end(e);
    if (e->fd >= 0)
        close(e->fd);
    arena_release(&e->own);
}

/* ---- before a run ---- */

bool engine_can_compute(const struct cell_config *c, struct error *err)
{
    const struct plugin_use *use;
    for (int i = 1; (use = cell_plugin(c, i)); i++)
        if (path_ends_in(use->plugin->path, ".py"))
            return mistake(err, use->at,
                           "'%s' is Python alone: run.engine: torch computes it, and peat's own "
                           "engine needs a twin in C, which 'peat plugins new --from %s' begins",
                           use->plugin->path, use->plugin->path);
    return true;
}

bool engine_has_formulas(const struct cell_config *c, struct arena *a, struct error *err)
{
    const struct plugin_use *use;
    for (int i = 1; (use = cell_plugin(c, i)); i++) {
        const char *so = use->plugin->path;
        if (path_ends_in(so, ".py") && use->formula)
            return mistake(err, use->at, "'%s' is its own formula: leave the key `formula` out",
                           so);
        if (path_ends_in(so, ".py"))
            continue;
        const char *path = arena_printf(a, "%.*s.py", (int)(strlen(so) - strlen(".so")), so);
        if (!use->formula && !file_exists(path))
            return mistake(err, use->at,
                           "run.engine: torch computes with formulas, and '%s' has none: write "
                           "'%s' (docs/formulas.md), or name another file by the key `formula`",
                           use->plugin->desc->id, path);
    }
    return true;
}

peat_status engine_check(struct engine_place place, struct arena *a, struct error *err)
{
    const char *const word[] = {"--check", engine_words[place.engine], device_words[place.device]};
    const char *answer;
    struct error why = {0};
    peat_status status = python_ask("engine.py", word, 3, "run.engine: torch", a, &answer, &why);
    return status == PEAT_INVALID ? error_set(err, PEAT_NOTFOUND, "run.engine: torch: %s", why.text)
                                  : error_copy(err, &why);
}
