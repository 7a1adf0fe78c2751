/* SPDX-License-Identifier: MIT */
/*
 * test_stops.c: SIGINT, SIGTERM and SIGHUP end every command with 130 wherever it is, and leave
 * neither processes nor temporary files behind.
 */
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "support/shell.h"
#include "support/support.h"

static const char experiment[] = "version: 1\n"
                                 "name: stops\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2}\n"
                                 "  train: {steps: 6, batch: 2, seq_len: 16}\n"
                                 "  eval: {lengths: [16], tokens: 64}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned]\n"
                                 "run: {plan_timeout: 0, no_progress: 0, checkpoint: {every: 0}}\n";

/* In Python's place: it comes to be drawing and stays so. */
static const char drawing[] = "#!/bin/sh\n"
                              "touch drawing\n"
                              "exec sleep 1000\n";

static const int stops[] = {SIGINT, SIGTERM, SIGHUP};
enum { STOPS = sizeof(stops) / sizeof(*stops) };

static void open_runs(void)
{
    shell_open();
    shell_write("stops.yaml", experiment);
    shell_expect(0, "mkdir tmp bin && cat \"$PEAT_SOURCE\"/include/peat/*.h > text.txt && "
                    "${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -fvisibility=hidden "
                    "-I\"$PEAT_SOURCE/include\" \"$PEAT_SOURCE/tests/isolation/evil_scheme.c\" "
                    "-o evil.so -lm");
    /* A hole as large as nearly all memory. */
    shell_expect(
        0, "truncate -s $(awk '/^MemTotal/{printf \"%%dK\", $2*0.9}' /proc/meminfo) large.txt");
    shell_write("bin/python3", drawing);
    shell_expect(0, "chmod +x bin/python3 && peat run stops.yaml -o done");
}

/* ---- a command that is stopped ---- */

/* `sh -c` makes way for what it is told to exec. */
static pid_t begin(const char *command, const char *ignored)
{
    struct strbuf text;
    strbuf_init(&text);
    strbuf_addf(&text,
                "cd %s; unset PEAT_PLUGIN_PATH PEAT_PYTHON; HOME=/nonexistent; TMPDIR=$PWD/tmp "
                "PATH=\"$PWD/bin:${PEAT%%/*}:$PATH\"; export TMPDIR; %s exec peat %s >out 2>&1",
                shell.dir, ignored, command);
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        for (int i = 0; i < STOPS; i++)
            sigaction(stops[i], &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        execlp("sh", "sh", "-c", text.text, (char *)NULL);
        _exit(127);
    }
    strbuf_release(&text);
    return pid;
}

/* 1000 + n for signal n. */
static int end_of(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void nap(void)
{
    nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
}

static void until(const char *condition)
{
    int patience = 6000;
    while (shell_run("%s", condition) != 0) {
        ck_assert_msg(--patience > 0, "it never comes true: %s", condition);
        nap();
    }
}

/* Processes at work in the test's directory. */
static int running(void)
{
    char here[256], path[64], cwd[256];
    char **name = NULL;
    int n = 0, found = 0;
    ck_assert_ptr_nonnull(realpath(shell.dir, here));
    ck_assert_int_eq(dir_list("/proc", &name, &n, NULL), PEAT_OK);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof(path), "/proc/%.20s/cwd", name[i]);
        ssize_t length = name[i][0] <= '9' ? readlink(path, cwd, sizeof(cwd) - 1) : -1;
        cwd[length > 0 ? length : 0] = '\0';
        found += !strncmp(cwd, here, strlen(here));
    }
    names_free(name, n);
    return found;
}

static void until_running(int least, int most)
{
    int patience = 6000;
    for (int n = running(); n < least || n > most; n = running()) {
        ck_assert_msg(--patience > 0, "%d processes run, not %d to %d", n, least, most);
        nap();
    }
}

static bool is_peat(pid_t pid)
{
    char path[64], exe[256] = "";
    snprintf(path, sizeof(path), "/proc/%ld/exe", (long)pid);
    ssize_t n = readlink(path, exe, sizeof(exe) - 1);
    return n > 5 && !strcmp(exe + n - 5, "/peat");
}

/* What comes before main is the system's. */
static bool is_itself(pid_t pid)
{
    char path[64], *text = NULL;
    size_t n = 0;
    if (!is_peat(pid))
        return false;
    snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
    ck_assert_int_eq(file_read(path, 0, &text, &n, NULL), PEAT_OK);
    const char *line = strstr(text, "SigCgt:");
    unsigned long long caught = line ? strtoull(line + strlen("SigCgt:"), NULL, 16) : 0;
    free(text);
    return caught >> (SIGTERM - 1) & 1;
}

static void until_it_is_itself(pid_t pid)
{
    for (int patience = 6000; !is_itself(pid); patience--) {
        ck_assert_int_gt(patience, 0);
        nap();
    }
}

static void assert_nothing_is_left(const char *command, int signal)
{
    ck_assert_msg(shell_run("test -z \"$(ls tmp)\" && test -z \"$(find . -name '*.tmp*')\"") == 0,
                  "signal %d leaves a temporary file of 'peat %s'", signal, command);
    until_running(0, 0);
}

struct phase {
    const char *command;
    int processes;       /* when it is there: so many, or more */
    const char *reached; /* and this is true, for a shell      */
};

static void stop_in(const struct phase *p, int signal)
{
    shell_expect(0, "rm -rf drawing out page.html page.svg");
    pid_t pid = begin(p->command, "");
    until_it_is_itself(pid);
    until_running(p->processes, 1000);
    until(p->reached);
    kill(pid, signal);
    int code = end_of(pid);
    ck_assert_msg(code == 130, "signal %d ends 'peat %s' with %d", signal, p->command, code);
    assert_nothing_is_left(p->command, signal);
}

#define STUCK "does=loop place=setup"

static const struct phase phases[] = {
    {"validate /dev/stdin < bin/pipe", 1, ":"},
    {"plan stops.yaml 'position.scheme={plugin: ./evil.so, does: loop, place: setup}'", 2, ":"},
    {"run stops.yaml -o stopped 'position.scheme={plugin: ./evil.so, does: loop, place: setup}'", 2,
     ":"},
    {"plan stops.yaml task.path=large.txt", 2,
     "grep -q \"hashing '.*large.txt': .* of .* GiB\" out"},
    {"inspect ./evil.so " STUCK " --d 4 --T 3", 2, ":"},
    {"plugins check ./evil.so " STUCK, 2, "test -e tmp/*/log"},
    {"plot done --kind bars -o page.svg", 2, "test -e drawing"},
    {"report done -o page.html", 2, "test -e drawing"},
    {"bench step --steps 1000000", 2, ":"},
};
enum { PHASES = sizeof(phases) / sizeof(*phases) };

/* So that a reader waits. */
static int open_pipe(void)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/bin/pipe", shell.dir);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    return fd;
}

LOOP_TEST(stop_ends_a_command_with_130_wherever_it_is, PHASES)
{
    shell_expect(0, "mkfifo bin/pipe");
    int writer = open_pipe();
    for (int i = 0; i < STOPS; i++)
        stop_in(&phases[_i], stops[i]);
    close(writer);
}

/* ---- cells ---- */

#define LONG "'position.scheme=[learned]' train.steps=100000000 run.checkpoint.every=0"

static void begin_cell(pid_t *pid, const char *ignored)
{
    *pid = begin("run stops.yaml -o cut " LONG, ignored);
    until("test -s cut/cells/*/metrics.jsonl");
}

LOOP_TEST(stopped_cells_save_where_they_are, STOPS)
{
    pid_t pid;
    begin_cell(&pid, "");
    kill(pid, stops[_i]);
    ck_assert_int_eq(end_of(pid), 130);
    shell_expect(0, "grep -q '\"reason\": \"interrupted\"' cut/cells/*/end.json && "
                    "ls cut/cells/*/ckpt/*/state.json && test ! -e cut/cells/*/running.json");
    assert_nothing_is_left("run", stops[_i]);
    shell_run("rm -rf cut");
}

/* The pid of the cell is in running.json. */
TEST(hangup_under_nohup_stops_neither_the_run_nor_its_cells)
{
    pid_t pid;
    begin_cell(&pid, "trap '' HUP;");
    shell_expect(0,
                 "kill -HUP %ld $(sed -n 's/.*\"pid\": *\\([0-9]*\\).*/\\1/p' "
                 "cut/cells/*/running.json)",
                 (long)pid);
    shell_expect(0, "cat cut/cells/*/metrics.jsonl | wc -l > first");
    until("test $(cat cut/cells/*/metrics.jsonl | wc -l) -gt $(($(cat first) + 20))");
    kill(pid, SIGTERM);
    ck_assert_int_eq(end_of(pid), 130);
}

/* Ten seconds after its parent's death, at the latest. */
TEST(cell_in_an_endless_loop_ends_with_its_killed_parent)
{
    pid_t pid = begin("run stops.yaml -o stuck 'position.scheme={plugin: ./evil.so, does: endure, "
                      "place: prepare}'",
                      "");
    until("test -s stuck/cells/*/running.json");
    kill(pid, SIGKILL);
    ck_assert_int_eq(end_of(pid), 1000 + SIGKILL);
    until_running(0, 0);
}

int main(void)
{
    return run_tests(
        (struct tests){"stops", open_runs, shell_close, .seconds = 240, .needs = "PEAT_SOURCE cc"});
}
