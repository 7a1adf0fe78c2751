/* SPDX-License-Identifier: MIT */
/*
 * check.h: what a plugin promises, executed.
 *
 * A check works on one loaded plugin and ends in a verdict with a reason. Checks assume nothing of
 * each other and may crash, hang or spoil the process with the plugin: the caller gives each its
 * own.
 */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "plugin/registry.h"
#include "process/state.h"

enum verdict { CHECK_PASSED, CHECK_FAILED, CHECK_SKIPPED };

/* The plugin under check. */
struct subject {
    struct arena *arena;
    const struct plugin *plugin;
    const struct value *given;    /* parameters to check it with; NULL: the defaults */
    const struct state *unloaded; /* of the process before the plugin was loaded     */
    const char *scratch;          /* a directory for files                           */
    const struct team *team;      /* one thread, after gemm_start                    */
    struct trail *trail;          /* where its functions are noted; NULL: nowhere    */
    const char *cases;            /* for check_cases, cases.h                        */
    struct cases_end *end;
};

/* `why` is empty on success; otherwise what is wrong and where, or why it was skipped. */
typedef enum verdict (*check_fn)(const struct subject *s, struct strbuf *why);

struct check {
    const char *name;           /* "causality" */
    const char *doc;            /* what holds when it passes, one line */
    bool scheme, combine, task; /* kinds it is for */
    check_fn run;
};

/* All checks in the order they are run, ended by a NULL name. */
const struct check *check_table(void);
/* check_cases too. */
const struct check *check_find(const char *name);
bool check_is_for(const struct check *c, peat_kind kind);

enum verdict check_failed(struct strbuf *why, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
enum verdict check_skipped(struct strbuf *why, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes batches of a task as a trainer does. */
peat_status check_task_runs(const struct subject *s, struct error *err);

enum verdict check_abi(const struct subject *s, struct strbuf *why);
enum verdict check_parameters(const struct subject *s, struct strbuf *why);
enum verdict check_gradients(const struct subject *s, struct strbuf *why);
enum verdict check_finite(const struct subject *s, struct strbuf *why);
enum verdict check_widths(const struct subject *s, struct strbuf *why);
enum verdict check_shift_invariant(const struct subject *s, struct strbuf *why);
enum verdict check_norm_preserving(const struct subject *s, struct strbuf *why);
enum verdict check_permutation_equivariant(const struct subject *s, struct strbuf *why);
enum verdict check_finite_length(const struct subject *s, struct strbuf *why);
enum verdict check_no_trainable(const struct subject *s, struct strbuf *why);
enum verdict check_content_dependent(const struct subject *s, struct strbuf *why);
enum verdict check_needs_causal(const struct subject *s, struct strbuf *why);
enum verdict check_storable(const struct subject *s, struct strbuf *why);
enum verdict check_across(const struct subject *s, struct strbuf *why);
enum verdict check_causality(const struct subject *s, struct strbuf *why);
enum verdict check_prefix(const struct subject *s, struct strbuf *why);
enum verdict check_batch(const struct subject *s, struct strbuf *why);
enum verdict check_padding(const struct subject *s, struct strbuf *why);
enum verdict check_packing(const struct subject *s, struct strbuf *why);
enum verdict check_masked(const struct subject *s, struct strbuf *why);
enum verdict check_paths(const struct subject *s, struct strbuf *why);
enum verdict check_purity(const struct subject *s, struct strbuf *why);
enum verdict check_threads(const struct subject *s, struct strbuf *why);
enum verdict check_buffers(const struct subject *s, struct strbuf *why);
enum verdict check_leaks(const struct subject *s, struct strbuf *why);
enum verdict check_task_leaks(const struct subject *s, struct strbuf *why);
enum verdict check_environment(const struct subject *s, struct strbuf *why);
enum verdict check_batches(const struct subject *s, struct strbuf *why);
enum verdict check_metrics(const struct subject *s, struct strbuf *why);

#endif
