/* SPDX-License-Identifier: MIT */
/*
 * guard.c: a test program with an end. `guard PROGRAM WORD...` gives it a folder of its own as
 * TMPDIR, in memory unless TMPDIR is set, and its exit status back. When it takes longer than
 * PEAT_TEST_SECONDS, it is printed which its processes are and where they stand, and all are
 * killed. However it ends, it leaves no process and no file.
 *
 * A test that is about to be ended for its own limit (support.c) has its stacks printed before.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_dir.h"
#include "support/limit.h"

enum { PROCESSES = 1024, BROKEN = 99 };

struct guarded {
    char *const *word;
    double seconds, begun; /* of the clock */
    char *dir;
    pid_t pid;
    bool ended;
    int status;
    double told; /* the deadline of the test whose stacks were printed last */
};

/* ---- processes ---- */

struct process {
    pid_t pid, parent;
};

static bool read_parent(struct process *p)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)p->pid);
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;
    int parent = 0;
    if (f)
        fclose(f);
    const char *name_end = n ? strrchr(text, ')') : NULL;
    bool read = name_end && sscanf(name_end, ") %*c %d", &parent) == 1;
    p->parent = parent;
    return read;
}

static int read_all(struct process all[PROCESSES])
{
    int n = 0;
    DIR *proc = opendir("/proc");
    for (struct dirent *e; proc && n < PROCESSES && (e = readdir(proc));) {
        all[n] = (struct process){.pid = (pid_t)atol(e->d_name)};
        if (isdigit((unsigned char)e->d_name[0]) && read_parent(&all[n]))
            n++;
    }
    if (proc)
        closedir(proc);
    return n;
}

static bool is_below(const struct process *all, int n, pid_t pid, pid_t above)
{
    for (int depth = 0; pid > 1 && depth < n; depth++) {
        pid_t parent = 0;
        for (int i = 0; i < n; i++)
            if (all[i].pid == pid)
                parent = all[i].parent;
        if (parent == above)
            return true;
        pid = parent;
    }
    return false;
}

/* Those that this process or one of its children has started: orphans come to this process. */
static int find_below(pid_t below[PROCESSES])
{
    static struct process all[PROCESSES];
    int n = read_all(all), n_below = 0;
    for (int i = 0; i < n; i++)
        if (is_below(all, n, all[i].pid, getpid()))
            below[n_below++] = all[i].pid;
    return n_below;
}

/* ---- where they stand ---- */

/* Each with the number of a process for $1. */
static const char line_of[] =
    "p=/proc/$1; echo \"-- process $1: $(tr '\\0' ' ' <$p/cmdline | cut -c1-400)\"; "
    "grep -E '^(State|PPid|Threads|Sig(Blk|Ign|Cgt)):' $p/status | tr '\\n\\t' '  '; "
    "echo \"wchan $(cat $p/wchan), call $(cat $p/syscall)\"";
static const char stack_of[] =
    "echo \"-- stacks of process $1\"; "
    "if command -v eu-stack >/dev/null; then timeout 20 eu-stack -p $1; "
    "elif command -v gdb >/dev/null; then timeout 20 gdb -q -batch -ex 'thread apply all bt 24' "
    "-p $1; else echo 'neither eu-stack nor gdb is installed'; fi 2>&1 | "
    "grep -vE '^(\\[New LWP|warning:)'";

static void print(const char *script, pid_t pid)
{
    char command[1024];
    snprintf(command, sizeof(command), "set -- %ld; %s", (long)pid, script);
    if (system(command) < 0)
        fprintf(stderr, "guard: no shell for process %ld\n", (long)pid);
}

static void print_stacks(void)
{
    enum { SHOWN = 24 };
    pid_t below[PROCESSES];
    int n = find_below(below);
    double until = clock_seconds() + LIMIT_STACKS;
    fflush(stdout);
    for (int i = 0; i < n && i < SHOWN; i++)
        print(line_of, below[i]);
    for (int i = 0; i < n && i < SHOWN && clock_seconds() < until; i++)
        print(stack_of, below[i]);
    fflush(stdout);
}

/* ---- the end ---- */

static void reap(struct guarded *g)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        if (pid != g->pid)
            continue;
        g->ended = true;
        g->status = status;
    }
}

/* New ones may be started until the last is killed. */
static void kill_all(struct guarded *g)
{
    const double until = clock_seconds() + 60;
    pid_t below[PROCESSES];
    for (int n; (n = find_below(below)) > 0 && clock_seconds() < until;) {
        for (int i = 0; i < n; i++)
            kill(below[i], SIGKILL);
        nanosleep(&(struct timespec){0, 10 * 1000 * 1000}, NULL);
        reap(g);
    }
}

static int finish(struct guarded *g, int code)
{
    struct error err = {0};
    kill_all(g);
    bool removed = dir_remove(g->dir, &err) == PEAT_OK;
    free(g->dir);
    if (removed)
        return code;
    fprintf(stderr, "guard: %s\n", err.text);
    return code ? code : EXIT_FAILURE;
}

/* ---- watching ---- */

/* A test that has had its time, once for each. */
static void look_at_limit(struct guarded *g)
{
    double deadline = 0, seconds = 0;
    char *path = path_join(g->dir, LIMIT_FILE);
    FILE *f = fopen(path, "re");
    bool read = f && fscanf(f, "%lf %lf", &deadline, &seconds) == 2;
    if (f)
        fclose(f);
    free(path);
    if (!read || clock_seconds() < deadline || deadline == g->told)
        return;
    g->told = deadline;
    printf("guard: a test of '%s' has not ended in %g s; its processes:\n", g->word[0], seconds);
    print_stacks();
}

static int watch(struct guarded *g, const sigset_t *signals)
{
    while (!g->ended) {
        int signal = sigtimedwait(signals, NULL, &(struct timespec){1, 0});
        reap(g);
        if (signal > 0 && signal != SIGCHLD)
            return finish(g, 128 + signal);
        if (g->ended)
            break;
        look_at_limit(g);
        if (clock_seconds() - g->begun <= g->seconds)
            continue;
        printf("guard: '%s' has not ended in %g s; its processes:\n", g->word[0], g->seconds);
        print_stacks();
        return finish(g, EXIT_FAILURE);
    }
    return finish(g, WIFEXITED(g->status) ? WEXITSTATUS(g->status) : 128 + WTERMSIG(g->status));
}

static void start(struct guarded *g, const sigset_t *before)
{
    pid_t guard = getpid();
    g->begun = clock_seconds();
    g->pid = fork();
    if (g->pid != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, before, NULL);
    setenv("TMPDIR", g->dir, 1);
    setenv(LIMIT_VARIABLE, path_join(g->dir, LIMIT_FILE), 1);
    if (getppid() == guard)
        execvp(g->word[0], g->word);
    perror(g->word[0]);
    _exit(BROKEN);
}

/* Tests write and sync files by the thousand, which takes longer on a disk than all they compute.
 * A container may have a small /dev/shm, or one that runs no program. */
static void choose_place(void)
{
    const double least = 2e9;
    struct statvfs memory;
    if (statvfs("/dev/shm", &memory) == 0 && !(memory.f_flag & (ST_NOEXEC | ST_RDONLY)) &&
        (double)memory.f_bavail * (double)memory.f_frsize >= least)
        setenv("TMPDIR", "/dev/shm", 0);
}

int main(int argc, char **argv)
{
    static const int watched[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    sigset_t signals, before;
    const char *seconds = getenv("PEAT_TEST_SECONDS");
    if (argc < 2 || !seconds) {
        fprintf(stderr, "PEAT_TEST_SECONDS=... guard PROGRAM WORD...\n");
        return BROKEN;
    }
    choose_place();
    struct guarded g = {.word = argv + 1, .seconds = atof(seconds), .dir = own_dir_pattern("test")};
    sigemptyset(&signals);
    for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
        sigaddset(&signals, watched[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (!mkdtemp(g.dir) || chmod(g.dir, 0711) < 0) {
        perror(g.dir);
        return BROKEN;
    }
    start(&g, &before);
    if (g.pid < 0)
        return finish(&g, BROKEN);
    return watch(&g, &signals);
}
