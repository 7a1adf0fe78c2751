/* SPDX-License-Identifier: MIT */
/* checkchild.c: both sides of a check that runs in its own process. */
#include "check/checkchild.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "process/spawn.h"
#include "tensor/gemm.h"
#include "tensor/parallel.h"

static const struct place nowhere = {NULL, 0, 0};

static const char *const end_name[] = {"passed", "failed", "skipped", "crashed", "timeout"};

const char *check_end_name(enum check_end end)
{
    return end_name[end];
}

/* ---- the child ---- */

static struct value *parse_setting(const char *text, struct arena *a, struct error *err)
{
    if (*text == '[')
        return value_from_json(a, text, strlen(text), "command line", err);
    return value_scalar(a, (struct place){"command line", 0, 0}, text);
}

static peat_status read_settings(const struct check_request *q, struct arena *a,
                                 struct value **given, struct error *err)
{
    *given = value_map(a, nowhere);
    for (int i = 0; i < q->n_setting; i++) {
        const char *equals = strchr(q->setting[i], '=');
        const char *key = arena_printf(a, "%.*s", (int)(equals - q->setting[i]), q->setting[i]);
        struct value *v = parse_setting(equals + 1, a, err);
        if (!v)
            return PEAT_INVALID;
        value_set(a, *given, key, nowhere, v);
    }
    return PEAT_OK;
}

static struct value *describe(const struct plugin *p, struct arena *a)
{
    struct value *map = value_map(a, nowhere);
    value_set(a, map, "kind", nowhere, value_text(a, nowhere, kind_name(p->desc->kind)));
    value_set(a, map, "name", nowhere, value_text(a, nowhere, p->desc->id));
    value_set(a, map, "version", nowhere, value_text(a, nowhere, p->desc->version));
    value_set(a, map, "path", nowhere, value_text(a, nowhere, p->path));
    value_set(a, map, "sha256", nowhere, value_text(a, nowhere, p->sha256));
    return map;
}

static peat_status write_record(const struct check_report *report, const char *path,
                                struct arena *a, struct error *err)
{
    struct value *map = value_map(a, nowhere);
    value_set(a, map, "end", nowhere, value_text(a, nowhere, check_end_name(report->end)));
    value_set(a, map, "text", nowhere, value_text(a, nowhere, report->text));
    value_set(a, map, "absent", nowhere, value_bool(a, nowhere, report->absent));
    if (report->subject)
        value_set(a, map, "subject", nowhere, (struct value *)(uintptr_t)report->subject);
    struct strbuf text;
    strbuf_init(&text);
    value_to_json(map, false, 0, &text);
    peat_status status = file_write(path, text.text, text.n, err);
    strbuf_release(&text);
    return status;
}

/* A plugin that cannot be loaded has failed the check that is about loading it. */
static void not_loaded(const struct error *err, struct arena *a, struct check_report *report)
{
    report->end = CHECK_END_FAILED;
    report->text = arena_strdup(a, err->text);
    report->absent = err->status == PEAT_NOTFOUND;
}

static void run_check(const struct subject *s, const struct check *check,
                      struct check_report *report)
{
    static const enum check_end end[] = {CHECK_END_PASSED, CHECK_END_FAILED, CHECK_END_SKIPPED};
    struct strbuf why;
    strbuf_init(&why);
    report->end = end[check->run(s, &why)];
    report->text = arena_strdup(s->arena, why.text);
    report->subject = describe(s->plugin, s->arena);
    strbuf_release(&why);
}

peat_status check_here(const struct check_request *q, const char *check, const char *record,
                       const char *scratch, struct arena *arena, struct check_report *report,
                       struct error *err)
{
    struct registry registry;
    struct state unloaded;
    struct value *given;
    struct error why = {0};
    *report = (struct check_report){.check = check, .text = ""};
    struct team team = {1, NULL};
    parallel_start();
    peat_status status = gemm_start(&team, "openblas", err);
    if (status == PEAT_OK)
        status = registry_init(&registry, arena, err);
    if (status == PEAT_OK)
        status = read_settings(q, arena, &given, err);
    if (status != PEAT_OK)
        return status;
    struct subject s = {.arena = arena, .given = given, .unloaded = &unloaded, .scratch = scratch};
    state_read(&unloaded);
    if (registry_find_any(&registry, q->plugin, &s.plugin, &why) == PEAT_OK)
        run_check(&s, check_find(check), report);
    else
        not_loaded(&why, arena, report);
    return record ? write_record(report, record, arena, err) : PEAT_OK;
}

/* ---- the parent ---- */

/* A child on its way. */
struct child {
    pid_t pid;
    int status;
    bool timed_out;
};

static char *const *child_arguments(const struct check_request *q, const char *check,
                                    const char *record, struct arena *a, struct error *err)
{
    static const char *const fixed[] = {"plugins", "check", "--only", "--record"};
    char **argv = ARENA_ARRAY(a, q->n_setting + 9, char *);
    char program[4096];
    if (own_program(program, sizeof(program), err) != PEAT_OK)
        return NULL;
    BUG_UNLESS(argv);
    int n = 0;
    argv[n++] = arena_strdup(a, program);
    argv[n++] = arena_strdup(a, fixed[0]);
    argv[n++] = arena_strdup(a, fixed[1]);
    argv[n++] = arena_strdup(a, fixed[2]);
    argv[n++] = arena_strdup(a, check);
    argv[n++] = arena_strdup(a, fixed[3]);
    argv[n++] = arena_strdup(a, record);
    argv[n++] = arena_strdup(a, q->plugin);
    for (int i = 0; i < q->n_setting; i++)
        argv[n++] = q->setting[i];
    return argv;
}

static void child_wait(struct child *c, double timeout)
{
    const struct timespec nap = {0, 2000000};
    double end = clock_seconds() + timeout;
    for (;;) {
        pid_t done = waitpid(c->pid, &c->status, WNOHANG);
        if (done == c->pid || (done < 0 && errno != EINTR))
            return;
        if (clock_seconds() > end)
            break;
        nanosleep(&nap, NULL);
    }
    c->timed_out = true;
    process_signal(c->pid, SIGKILL);
    while (waitpid(c->pid, &c->status, 0) < 0 && errno == EINTR)
        continue;
}

/* The line of a log that tells most: that of a sanitizer, else the last one. */
static const char *telling_line(const char *log, struct arena *a)
{
    char *text;
    size_t n;
    if (file_read(log, 0, &text, &n, NULL) != PEAT_OK)
        return "";
    const char *best = "";
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        best = line;
        if (strstr(line, "ERROR: ") || strstr(line, "runtime error: "))
            break;
    }
    best = arena_strdup(a, best);
    free(text);
    return best;
}

static void describe_death(const struct child *c, const char *log, struct arena *a,
                           struct check_report *report)
{
    const char *line = telling_line(log, a), *colon = *line ? ": " : "";
    report->end = CHECK_END_CRASHED;
    if (WIFSIGNALED(c->status))
        report->text = arena_printf(a, "killed by signal %d (%s)%s%s", WTERMSIG(c->status),
                                    strsignal(WTERMSIG(c->status)), colon, line);
    else
        report->text = arena_printf(a, "the process ended with code %d before the check did%s%s",
                                    WEXITSTATUS(c->status), colon, line);
}

/* False: the child left no record. */
static bool read_record(const char *path, struct arena *a, struct check_report *report)
{
    char *text;
    size_t n;
    if (file_read(path, 0, &text, &n, NULL) != PEAT_OK)
        return false;
    const struct value *map = value_from_json(a, text, n, path, NULL);
    free(text);
    const struct value *end = value_get(map, "end"), *why = value_get(map, "text");
    const struct value *absent = value_get(map, "absent");
    if (!end || !why || !absent)
        return false;
    for (int i = 0; i < CHECK_ENDS; i++)
        if (!strcmp(end->text, end_name[i]))
            report->end = (enum check_end)i;
    report->text = why->text;
    report->absent = absent->boolean;
    report->subject = value_get(map, "subject");
    return true;
}

/* A process that dies after a check has passed has something to say; after a failure it may. */
static bool believable(const struct child *c, const struct check_report *report)
{
    return report->end == CHECK_END_FAILED || (WIFEXITED(c->status) && !WEXITSTATUS(c->status));
}

static peat_status run_child(const struct check_request *q, const char *check, const char *dir,
                             struct arena *a, struct check_report *report, struct error *err)
{
    const char *record = arena_printf(a, "%s/record", dir), *log = arena_printf(a, "%s/log", dir);
    char *const *argv = child_arguments(q, check, record, a, err);
    char **env = cell_environment(a, 4);
    struct child c = {0};
    if (!argv)
        return err->status;
    peat_status status = process_start(argv, env, log, &c.pid, err);
    if (status != PEAT_OK)
        return status;
    child_wait(&c, q->timeout);
    if (c.timed_out) {
        report->end = CHECK_END_TIMEOUT;
        report->text = arena_printf(a, "still running after %g seconds", q->timeout);
    } else if (!read_record(record, a, report) || !believable(&c, report)) {
        describe_death(&c, log, a, report);
    }
    return PEAT_OK;
}

peat_status check_apart(const struct check_request *q, const char *check, struct arena *arena,
                        struct check_report *report, struct error *err)
{
    const char *tmp = getenv("TMPDIR");
    char *dir = arena_printf(arena, "%s/peat-check-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    double start = clock_seconds();
    *report = (struct check_report){.check = check, .text = ""};
    if (!mkdtemp(dir))
        return error_set(err, PEAT_IO, "cannot make '%s': %s", dir, strerror(errno));
    peat_status status = run_child(q, check, dir, arena, report, err);
    dir_remove(dir, NULL);
    report->seconds = clock_seconds() - start;
    return status;
}
