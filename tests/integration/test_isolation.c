/* SPDX-License-Identifier: MIT */
/*
 * test_isolation.c: whatever a plugin does to its process costs only its own cells.
 *
 * The plugins of tests/isolation do one thing each, at one place. They are compiled here.
 */
#include "support/shell.h"
#include "support/support.h"

#if defined(PEAT_SANITIZED)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif
/* Whether a process may end inside dlopen(): ThreadSanitizer reports that as its own failure. */
#ifdef BASE_THREAD_SANITIZER
enum { EXITS_IN_DLOPEN = 0 };
#else
enum { EXITS_IN_DLOPEN = 1 };
#endif

/* What becomes of a cell. */
struct expectation {
    const char *does, *place, *state;
    const char *reason; /* part of it; NULL: any */
    const char *signal; /* "SIGSEGV"; NULL: none. A sanitizer takes it for itself */
};

static struct arena arena;

static void open_shell(void)
{
    shell_open();
    arena_init(&arena, "test", 1 << 16);
}

static void close_shell(void)
{
    arena_release(&arena);
    shell_close();
}

/* ---- plugins and experiments ---- */

static void build(const char *source, const char *flags, const char *object)
{
    shell_expect(0,
                 "${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -fvisibility=hidden %s "
                 "-I\"$PEAT_SOURCE/include\" \"$PEAT_SOURCE/tests/isolation/%s.c\" -o %s.so -lm",
                 flags, source, object);
}

#define SMALL                                                                                      \
    "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"                                              \
    "  train: {steps: 3, batch: 2, seq_len: 16}\n"                                                 \
    "  eval: {tokens: 64}\n"

static void add_crimes(struct strbuf *text, const char *plugin, int n, const struct expectation *e)
{
    for (int i = 0; i < n; i++)
        strbuf_addf(text, "    - {plugin: ./%s.so, does: %s, place: %s}\n", plugin, e[i].does,
                    e[i].place);
}

/* An experiment over `axis` with the good values and one for each crime. */
static void write_experiment(const char *name, const char *axis, const char *defaults,
                             const char *good, const char *plugin, int n,
                             const struct expectation *e, const char *run)
{
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text, "version: 1\nname: %s\ndefaults:\n%s" SMALL "matrix:\n  %s:\n%s", name,
                defaults, axis, good);
    add_crimes(&text, plugin, n, e);
    strbuf_addf(&text, "run: {jobs: 2%s}\n", run);
    shell_write(arena_printf(&arena, "%s.yaml", name), text.text);
    strbuf_release(&text);
}

/* ---- what status tells ---- */

static const struct value *status_of(const char *dir)
{
    shell_expect(0, "peat status %s --json", dir);
    const char *text = arena_strdup(&arena, shell.printed.text);
    const struct value *v = json_parse(&arena, text, strlen(text), "status", NULL);
    ck_assert_msg(v != NULL, "%s", text);
    return v;
}

static const char *text_of(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    return v && v->text ? v->text : "";
}

static const struct value *failure_of(const struct value *status, const struct expectation *e)
{
    const struct value *all = value_get(status, "failures");
    const char *label = arena_printf(&arena, "does=%s-place=%s", e->does, e->place);
    for (int i = 0; i < all->n; i++)
        if (strstr(text_of(all->item[i], "label"), label))
            return all->item[i];
    return NULL;
}

static void assert_end(const struct value *status, const struct expectation *e)
{
    const struct value *f = failure_of(status, e);
    const char *state = f ? text_of(f, "state") : "done", *reason = f ? text_of(f, "reason") : "";
    bool good = !strcmp(state, e->state) && (!e->reason || strstr(reason, e->reason));
    if (e->signal && !SANITIZED)
        good = good && strstr(reason, e->signal) && !strcmp(text_of(f, "signal"), e->signal);
    ck_assert_msg(good, "%s in %s: %s (%s), not %s (%s)", e->does, e->place, state, reason,
                  e->state, e->reason ? e->reason : "");
}

static int64_t count_of(const struct value *status, const char *state)
{
    return value_get(value_get(status, "counts"), state)->integer;
}

/* Bytes of every metric of the good cells are those of a grid that has only these. */
static void assert_same_metrics(const char *name, const char *axis, const char *good,
                                const char *const *label)
{
    shell_expect(0, "peat run %s.yaml -o alone \"%s=%s\"", name, axis, good);
    for (; *label; label++)
        shell_expect(0,
                     "a=$(echo alone/cells/%s*/metrics.jsonl) b=$(echo "
                     "runs/%s/cells/%s*/metrics.jsonl); [ -s \"$a\" ] && cmp \"$a\" \"$b\"",
                     *label, name, *label);
}

static void assert_nothing_runs(void)
{
    shell_expect(0, "for p in /proc/[0-9]*; do [ \"$(readlink $p/cwd)\" = \"$PWD\" ] && "
                    "[ \"$(readlink $p/exe)\" = \"$(realpath \"$PEAT\")\" ] && "
                    "tr '\\0' ' ' < $p/cmdline && exit 1; done; true");
}

static void run_grid(const char *name, int n, const struct expectation *e)
{
    shell_expect(1, "peat run %s.yaml", name);
    const struct value *status = status_of(arena_printf(&arena, "runs/%s", name));
    for (int i = 0; i < n; i++)
        assert_end(status, &e[i]);
    assert_nothing_runs();
}

/* ---- while cells run ---- */

#define COUNT(list) ((int)(sizeof(list) / sizeof(*(list))))

static const struct expectation of_schemes[] = {
    {"segv", "bias", "crashed", "evil_scheme.bias", "SIGSEGV"},
    {"segv", "prepare", "crashed", "evil_scheme.prepare", "SIGSEGV"},
    {"segv", "forward", "crashed", "kernel 'evil'", "SIGSEGV"},
    {"segv", "backward", "crashed", "kernel 'evil' backward", "SIGSEGV"},
    {"fpe", "encode", "crashed", "evil_scheme.encode", "SIGFPE"},
    {"ill", "qkv", "crashed", "evil_scheme.qkv", "SIGILL"},
    {"abort", "backward", "crashed", "kernel 'evil' backward", "SIGABRT"},
    {"overrun", "forward", "crashed", "kernel 'evil'", "SIGSEGV"},
    {"huge", "bias", "crashed", "evil_scheme.bias", "SIGSEGV"},
    {"exit0", "residual", "crashed", "evil_scheme.residual", NULL},
    {"exit3", "forward", "crashed", "kernel 'evil'", NULL},
    {"exit130", "encode", "crashed", "evil_scheme.encode", NULL},
    {"kill", "prepare", "oom", "evil_scheme.prepare", NULL},
    {"memory", "bias", "oom", "evil_scheme.bias", NULL},
    {"fork", "encode", "failed", "left a child process", NULL},
    {"close", "qkv", "failed", "closed file descriptor", NULL},
    {"chdir", "prepare", "failed", "changed the current directory", NULL},
    {"locale", "bias", "failed", "changed the locale", NULL},
    {"rounding", "forward", "failed", "changed how numbers are rounded", NULL},
    {"handler", "residual", "failed", "changed what SIGTERM does", NULL},
    {"shape", "qkv", "failed", "evil_scheme.qkv", NULL},
    {"null", "bias", "failed", "evil_scheme.bias", NULL},
    {"shape", "prepare", "failed", "evil_scheme.prepare", NULL},
    {"nan", "residual", "done", NULL, NULL}, /* diverged: a result */
    {"nan", "forward", "done", NULL, NULL},
    {"const", "forward", "done", NULL, NULL},
    {"print", "bias", "done", NULL, NULL},
};

TEST(crimes_of_schemes_cost_their_own_cells)
{
    build("evil_scheme", "", "evil_scheme");
    write_experiment("schemes", "position.scheme", "  task: {plugin: copy}\n",
                     "    - none\n    - sinusoidal\n    - rotary\n", "evil_scheme",
                     COUNT(of_schemes), of_schemes, "");
    run_grid("schemes", COUNT(of_schemes), of_schemes);
    const struct value *status = status_of("runs/schemes");
    ck_assert_int_eq(count_of(status, "diverged"), 2);
    ck_assert_int_eq(count_of(status, "done"), 5);
    assert_same_metrics("schemes", "position.scheme", "[none,sinusoidal,rotary]",
                        (const char *const[]){"none", "sinusoidal", "rotary", NULL});
}

static const struct expectation of_combines[] = {
    {"segv", "merge", "crashed", "evil_combine.merge", "SIGSEGV"},
    {"exit0", "merge", "crashed", "evil_combine.merge", NULL},
    {"close", "merge", "failed", "closed file descriptor", NULL},
};

TEST(crimes_of_combines_cost_their_own_cells)
{
    build("evil_combine", "", "evil_combine");
    write_experiment("combines", "position.combine",
                     "  task: {plugin: copy}\n  position: {scheme: sinusoidal}\n",
                     "    - sum\n    - multiply\n", "evil_combine", COUNT(of_combines), of_combines,
                     "");
    run_grid("combines", COUNT(of_combines), of_combines);
    assert_same_metrics("combines", "position.combine", "[sum,multiply]",
                        (const char *const[]){"sinusoidal.sum", "sinusoidal.multiply", NULL});
}

static const struct expectation of_tasks[] = {
    {"segv", "train", "crashed", "evil_task.train", "SIGSEGV"},
    {"abort", "evaluate", "crashed", "evil_task.evaluate", "SIGABRT"},
    {"exit0", "metric", "crashed", "evil_task.metric loss", NULL},
    {"chdir", "train", "failed", "changed the current directory", NULL},
    {"rounding", "metric", "failed", "changed how numbers are rounded", NULL},
};

TEST(crimes_of_tasks_cost_their_own_cells)
{
    build("evil_task", "", "evil_task");
    write_experiment("tasks", "task", "  position: {scheme: sinusoidal}\n",
                     "    - {plugin: ./evil_task.so}\n", "evil_task", COUNT(of_tasks), of_tasks,
                     "");
    run_grid("tasks", COUNT(of_tasks), of_tasks);
    ck_assert_int_eq(count_of(status_of("runs/tasks"), "done"), 1);
}

static const struct expectation that_hang[] = {
    {"loop", "forward", "timeout", "run.no_progress", NULL},
    {"sleep", "backward", "timeout", "kernel 'evil' backward", NULL},
    {"stop", "qkv", "timeout", "at step 2 in evil_scheme.qkv", NULL},
    {"loop", "prepare", "timeout", "evil_scheme.prepare", NULL},
};

TEST(cells_that_stand_still_are_ended_and_say_where)
{
    build("evil_scheme", "", "evil_scheme");
    write_experiment("hanging", "position.scheme", "  task: {plugin: copy}\n", "    - none\n",
                     "evil_scheme", COUNT(that_hang), that_hang, ", no_progress: 2s");
    shell_expect(1, "peat run hanging.yaml -j 5");
    const struct value *status = status_of("runs/hanging");
    for (int i = 0; i < COUNT(that_hang); i++)
        assert_end(status, &that_hang[i]);
    ck_assert_int_eq(count_of(status, "done"), 1);
    assert_nothing_runs();
}

TEST(whole_run_goes_on_without_the_plugins_in_its_memory)
{
    static const struct expectation slow[] = {{"sleep", "prepare", "", NULL, NULL}};
    build("evil_scheme", "", "evil_scheme");
    write_experiment("mapped", "position.scheme", "  task: {plugin: copy}\n", "    - rotary\n",
                     "evil_scheme", 1, slow, "");
    shell_expect(0,
                 "peat run mapped.yaml -j 2 2> said & pid=$!\n"
                 "for i in $(seq 1200); do grep -q rotary said && "
                 "ls runs/mapped/cells/evil*/running.json && break; sleep 0.05; done\n"
                 "grep -E 'rotary|evil|plugins' /proc/$pid/maps && held=yes; "
                 "kill -TERM $pid; sleep 0.1; kill -TERM $pid; wait $pid; [ \"$?$held\" = 130 ]");
}

/* ---- before anything runs ---- */

static const struct {
    const char *does, *says;
} at_setup[] = {
    {"segv", "crashed with SIGSEGV"},
    {"abort", "crashed with SIGABRT"},
    {"exit0", "ended the process with status 0"},
    {"exit130", "ended the process with status 130"},
    {"sleep", "did not return within 1 s"},
    {"stop", "did not return within 1 s"},
    {"fork", "left a child process"},
    {"close", "closed file descriptor"},
    {"chdir", "changed the current directory"},
    {"rounding", "changed how numbers are rounded"},
    {"handler", "changed what SIGTERM does"},
};

TEST(crime_in_setup_refuses_the_plan_with_one_line)
{
    build("evil_scheme", "", "evil_scheme");
    for (int i = 0; i < COUNT(at_setup); i++) {
        struct expectation e = {at_setup[i].does, "setup", "", NULL, NULL};
        if (SANITIZED && !strncmp(at_setup[i].says, "crashed", 7))
            continue; /* reports many lines */
        write_experiment("setup", "position.scheme", "  task: {plugin: copy}\n", "    - none\n",
                         "evil_scheme", 1, &e, ", plan_timeout: 1s");
        const char *verb = i % 3 == 0 ? "run" : i % 3 == 1 ? "plan" : "validate";
        shell_expect(2, "peat %s setup.yaml", verb);
        const char *text = shell.printed.text;
        bool one_line = strchr(text, '\n') == text + strlen(text) - 1;
        ck_assert_msg(one_line && strstr(text, at_setup[i].says) &&
                          strstr(text, "peat: setup.yaml:11:16: 'evil_scheme' (") &&
                          strstr(text, "in its setup, for cell ") &&
                          strstr(text, arena_printf(&arena, "does=%s", e.does)),
                      "%s", text);
        shell_expect(1, "[ -e runs ]");
    }
}

TEST(crime_on_loading_refuses_the_plan_with_one_line)
{
    static const char *const flags[] = {"-DON_LOAD=EXIT_0", "-DON_ENTRY=EXIT_3", "-DON_ENTRY=KILL",
                                        "-DON_LOAD=SLEEP"};
    static const char *const says[] = {"ended the process with status 0",
                                       "ended the process with status 3", "was ended by SIGKILL",
                                       "did not return within 1 s"};
    for (int i = EXITS_IN_DLOPEN ? 0 : 1; i < COUNT(flags); i++) {
        build("evil_scheme", flags[i], "evil_load");
        shell_write("load.yaml",
                    "version: 1\nname: load\ndefaults:\n  task: {plugin: copy}\nmatrix:\n"
                    "  position.scheme: [none, ./evil_load.so]\nrun: {plan_timeout: 1s}\n");
        shell_expect(2, "peat run load.yaml");
        ck_assert_msg(strstr(shell.printed.text, "peat: load.yaml:6:27: plugin '") &&
                          strstr(shell.printed.text, "evil_load.so' ") &&
                          strstr(shell.printed.text, says[i]) &&
                          strstr(shell.printed.text, " while it was loaded\n"),
                      "%s", shell.printed.text);
    }
}

TEST(list_passes_over_a_plugin_that_dies_on_loading)
{
    shell_expect(0, "mkdir dir");
    build("evil_scheme", EXITS_IN_DLOPEN ? "-DON_LOAD=EXIT_0" : "-DON_ENTRY=EXIT_3",
          "dir/evil_load");
    build("evil_scheme", "-DON_ENTRY=KILL", "dir/evil_entry");
    build("evil_scheme", "", "dir/evil_scheme");
    shell_says(0, "evil_scheme", "PEAT_PLUGIN_PATH=dir peat plugins list 2> said");
    assert_printed("rotary");
    ck_assert(!shell_printed("evil_load"));
    shell_says(0, "2", "[ $(wc -l < said) = 2 ] && grep -c 'while it was loaded' said");
    shell_expect(2, "PEAT_PLUGIN_PATH=dir peat plugins info evil_load");
    shell_expect(2, "PEAT_PLUGIN_PATH=dir peat inspect evil_entry --d 4 --T 2");
}

/* ---- plugins that never return ---- */

static const struct {
    const char *command;
    int code;
    const char *says;
} endless[] = {
    {"inspect ./evil_scheme.so does=endure place=encode --d 4 --T 2", 2,
     "evil_scheme.so) did not return within 1 s in its encode\n"},
    {"plan endless.yaml", 2, "evil_scheme.so) did not return within 1 s in its encode, for cell "},
    {"plugins info dir/evil_load.so", 2,
     "evil_load.so' did not return within 1 s while it was loaded\n"},
    {"plugins list >listed", 0, "evil_load.so' did not return within 1 s while it was loaded\n"},
    {"plugins check ./evil_scheme.so does=endure place=encode --timeout 1 --only finite | "
     "grep -c timeout",
     0, "2\n"},
};

TEST(plugin_that_never_returns_ends_no_command_but_its_own_part)
{
    static const struct expectation crime[] = {{"endure", "encode", "", NULL, NULL}};
    build("evil_scheme", "-DWHEN=false", "evil_scheme");
    write_experiment("endless", "position.scheme", "  task: {plugin: copy}\n", "    - sinusoidal\n",
                     "evil_scheme", 1, crime, ", plan_timeout: 1s");
    shell_expect(0, "peat run endless.yaml");
    build("evil_scheme", "-DWHEN=true", "evil_scheme");
    shell_expect(0, "mkdir dir");
    build("evil_scheme", "-DON_LOAD=ENDURE", "dir/evil_load");
    for (int i = 0; i < COUNT(endless); i++) {
        shell_expect(endless[i].code,
                     "PEAT_PLUGIN_PATH=dir PEAT_PLUGIN_SECONDS=1 timeout 20 peat %s",
                     endless[i].command);
        const char *text = shell.printed.text, *line_end = strchr(text, '\n');
        ck_assert_msg(strstr(text, endless[i].says) && (!*text || !line_end[1]), "%s: %s",
                      endless[i].command, text);
    }
    shell_expect(0, "grep rotary listed && cp dir/evil_load.so evil_scheme.so");
    shell_says(2, "evil_scheme.so' did not return within 1 s while it was loaded\n",
               "PEAT_PLUGIN_SECONDS=1 timeout 20 peat export runs/endless 1 --start -o x.st");
    assert_nothing_runs();
}

/* The model that a scheme is drawn in has 256 tokens. */
TEST(plugin_that_never_returns_costs_its_own_drawing)
{
    static const struct expectation crime[] = {{"endure", "encode", "", NULL, NULL}};
    build("evil_scheme", "'-DWHEN=(c->dims.V==256)'", "evil_scheme");
    write_experiment("drawn", "position.scheme", "  task: {plugin: copy}\n", "    - sinusoidal\n",
                     "evil_scheme", 1, crime, "");
    shell_expect(0, "peat run drawn.yaml");
    shell_says(0, "evil_scheme.so) did not return within 1 s in its encode\n",
               "PEAT_PLUGIN_SECONDS=1 timeout 60 peat inspect runs/drawn");
    shell_expect(0, "peat report runs/drawn -o page.html");
    shell_expect(0, "grep '<summary>sinusoidal.* in numbers' page.html");
    shell_expect(0, "grep 'evil_scheme.so) did not return within 1 s in its encode' page.html");
    assert_nothing_runs();
}

TEST(check_of_a_plugin_that_never_returns_stops_there)
{
    build("evil_scheme", "", "evil_scheme");
    shell_says(
        1, "\nstopped at '",
        "timeout 60 peat plugins check ./evil_scheme.so does=endure place=setup --timeout 6");
    ck_assert(shell_printed("setup: still running after 6 seconds\n"));
    ck_assert(shell_printed(" 1 timeout\n"));
    build("evil_scheme", "-DON_LOAD=ENDURE", "evil_load");
    shell_says(1, "still running after 2 seconds",
               "timeout 60 peat plugins check ./evil_load.so --timeout 2");
    assert_nothing_runs();
}

/* ---- states ---- */

TEST(refused_point_of_a_grid_is_skipped_and_listed)
{
    static const struct expectation refused[] = {{"shape", "setup", "", NULL, NULL}};
    build("evil_scheme", "", "evil_scheme");
    write_experiment("refused", "position.scheme", "  task: {plugin: copy}\n", "    - none\n",
                     "evil_scheme", 1, refused, "");
    shell_says(0, "is skipped: refused.yaml:11:16: this cannot be",
               "peat run refused.yaml seeds=2");
    assert_printed("4 cells: 2 done, 2 skipped");
    assert_printed("2 cells skipped: refused by the plan; peat status says why");
    shell_says(0, "refused: 4 cells: 2 done, 2 skipped\n", "peat status runs/refused");
    assert_printed("this cannot be");
    const struct value *skipped = value_get(status_of("runs/refused"), "skipped");
    ck_assert_int_eq(skipped->n, 2);
    ck_assert_ptr_nonnull(strstr(text_of(skipped->item[1], "label"), ".s1"));
    shell_says(0, "skipped: evil_scheme-does=shape-place=setup.sum.s0: ", "peat plan refused.yaml");
}

TEST(grid_of_which_all_is_refused_is_a_mistake)
{
    static const struct expectation refused[] = {{"shape", "setup", "", NULL, NULL}};
    build("evil_scheme", "", "evil_scheme");
    write_experiment("refused", "position.scheme", "  task: {plugin: copy}\n", "", "evil_scheme", 1,
                     refused, "");
    shell_expect(2, "peat run refused.yaml");
    ck_assert_str_eq(shell.printed.text, "peat: refused.yaml:10:16: this cannot be\n");
}

TEST(failed_cells_can_be_chosen_retried_and_stopped_at)
{
    static const struct expectation two[] = {{"segv", "bias", "", NULL, NULL},
                                             {"exit0", "bias", "", NULL, NULL}};
    build("evil_scheme", "", "evil_scheme");
    write_experiment("chosen", "position.scheme", "  task: {plugin: copy}\n", "", "evil_scheme", 2,
                     two, "");
    shell_expect(1, "peat run chosen.yaml -j 1 -x");
    const struct value *status = status_of("runs/chosen");
    ck_assert_int_eq(count_of(status, "crashed"), 1);
    ck_assert_int_eq(count_of(status, "todo"), 1);
    shell_expect(1, "peat run chosen.yaml --only '*exit0*'");
    ck_assert_int_eq(count_of(status_of("runs/chosen"), "crashed"), 2);
    shell_says(1, "2 failed; --retry-failed tries them again", "peat run chosen.yaml");
    shell_expect(1, "touch before && peat run chosen.yaml --retry-failed");
    shell_expect(0, "[ $(find runs/chosen -name end.json -newer before | wc -l) = 2 ]");
    ck_assert_int_eq(count_of(status_of("runs/chosen"), "crashed"), 2);
}

int main(void)
{
    return run_tests((struct tests){"isolation", open_shell, close_shell, .seconds = 240,
                                    .needs = "PEAT_SOURCE PEAT cc"});
}
