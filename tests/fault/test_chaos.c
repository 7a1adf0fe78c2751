/* SPDX-License-Identifier: MIT */
/*
 * test_chaos.c: grids among everything that can go wrong at once.
 *
 * For a while, things are done to four run directories in an order that the seed decides: runs are
 * started, several on one directory, some within limits; random processes of theirs get signals;
 * results are read; data are swapped; directories are renamed and copied; the disk of one of them
 * is full. Then each grid is finished in peace, and must have the bytes of one that was never
 * disturbed. PEAT_CHAOS_SECONDS says how long; the seed is printed.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "fault/faultkit.h"

static const char experiment[] = "version: 1\n"
                                 "name: chaos\n"
                                 "defaults:\n"
                                 "  task: {plugin: text, path: text.txt}\n"
                                 "  model: {d_model: 16, n_layer: 1, n_head: 2, dropout: 0.1}\n"
                                 "  train: {steps: 400, batch: 2, seq_len: 16}\n"
                                 "  eval: {every: 100, lengths: [16, 32], tokens: 64}\n"
                                 "matrix:\n"
                                 "  position.scheme: [learned, sinusoidal, rotary]\n"
                                 "seeds: 2\n"
                                 "run: {jobs: 2, no_progress: 30s, checkpoint: {every: 20}}\n";

static const char *const grids[] = {"g0", "g1", "g2", "disk/g3"};
enum { GRIDS = sizeof(grids) / sizeof(*grids), PROCESSES = 256, AT_ONCE = 5, ROOM_KIB = 16384 };

/* A sanitizer needs more addresses than any limit gives. */
#if defined(PEAT_SANITIZED)
enum { LIMITS = 1 };
#else
enum { LIMITS = 2 };
#endif

struct chaos {
    struct rig rig;
    unsigned long long state;
    bool has_disk;
    pid_t started[AT_ONCE]; /* runs and readers that were not waited for; 0: none */
    long done[8];           /* of each deed */
};

static int pick(struct chaos *c, int n)
{
    return (int)(draw(&c->state) % (unsigned)n);
}

static void nap_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    while (nanosleep(&time, &time) < 0 && errno == EINTR)
        continue;
}

/* ---- processes ---- */

/* A fault of the program itself; signals that were sent may end it at any time. */
static bool is_crash(int status)
{
    static const int crash[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGXFSZ, SIGPIPE};
    for (size_t i = 0; WIFSIGNALED(status) && i < sizeof(crash) / sizeof(*crash); i++)
        if (WTERMSIG(status) == crash[i])
            return true;
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    return code > 2 && code != 130;
}

static void reap(struct chaos *c)
{
    for (int i = 0, status; i < AT_ONCE; i++) {
        if (c->started[i] == 0 || waitpid(c->started[i], &status, WNOHANG) == 0)
            continue;
        expect(!is_crash(status), "a process of slot %d ends with status 0x%x", i, status);
        c->started[i] = 0;
    }
}

static void start(struct chaos *c, const char *words)
{
    for (int i = 0; i < AT_ONCE; i++)
        if (c->started[i] == 0) {
            c->started[i] = start_peat(&c->rig, i + 1, words);
            return;
        }
}

/* This is below that directory, and not this program. */
static bool works_in(const char *name, const char *dir)
{
    char path[64], cwd[256];
    if (name[0] < '0' || name[0] > '9' || atoi(name) == getpid())
        return false;
    snprintf(path, sizeof(path), "/proc/%.20s/cwd", name);
    ssize_t n = readlink(path, cwd, sizeof(cwd) - 1);
    cwd[n > 0 ? n : 0] = '\0';
    return strncmp(cwd, dir, strlen(dir)) == 0;
}

static int list_processes(const struct chaos *c, pid_t pid[PROCESSES])
{
    char **name = NULL;
    int n = 0, found = 0;
    if (dir_list("/proc", &name, &n, NULL) != PEAT_OK)
        return 0;
    for (int i = 0; i < n && found < PROCESSES; i++)
        if (works_in(name[i], c->rig.dir))
            pid[found++] = (pid_t)atoi(name[i]);
    names_free(name, n);
    return found;
}

/* ---- deeds ---- */

static void start_run(struct chaos *c)
{
    char words[128];
    snprintf(words, sizeof(words), "run chaos.yaml -o %s -j %d --retry-failed",
             grids[pick(c, GRIDS)], 1 + pick(c, 2));
    start(c, words);
}

static void start_within_limits(struct chaos *c)
{
    static const int what[] = {RLIMIT_FSIZE, RLIMIT_AS};
    int which = pick(c, LIMITS);
    struct rlimit before;
    getrlimit((__rlimit_resource_t)what[which], &before);
    struct rlimit less = before;
    less.rlim_cur = which ? (rlim_t)(200 + pick(c, 1000)) << 20 : (rlim_t)(1 + pick(c, 128)) << 10;
    setrlimit((__rlimit_resource_t)what[which], &less);
    start_run(c);
    setrlimit((__rlimit_resource_t)what[which], &before);
}

static void send_signal(struct chaos *c)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGSTOP};
    pid_t pid[PROCESSES];
    int n = list_processes(c, pid), rank = pick(c, 1 << 20);
    int signal = signals[pick(c, sizeof(signals) / sizeof(*signals))];
    int ms = pick(c, 300);
    if (n == 0)
        return;
    kill(pid[rank % n], signal);
    if (signal != SIGSTOP)
        return;
    nap_ms(ms);
    kill(pid[rank % n], SIGCONT);
}

static void start_reader(struct chaos *c)
{
    static const char *const verbs[] = {"status %s",
                                        "status %s --json",
                                        "results %s",
                                        "results %s --format csv",
                                        "results %s --format json",
                                        "run chaos.yaml -n -o %s"};
    char words[128];
    const char *verb = verbs[pick(c, sizeof(verbs) / sizeof(*verbs))];
    const char *percent = strchr(verb, '%');
    snprintf(words, sizeof(words), "%.*s%s%s", (int)(percent - verb), verb, grids[pick(c, GRIDS)],
             percent + 2);
    start(c, words);
}

static void put_text(const struct chaos *c, bool other)
{
    rig_write_text(&c->rig, 400, other ? 7 : -1);
}

static void swap_data(struct chaos *c)
{
    int ms = pick(c, 400);
    put_text(c, true);
    start_run(c);
    nap_ms(ms);
    put_text(c, false);
}

/* What has come to stand in its place meanwhile gives way. */
static void rename_grid(struct chaos *c)
{
    int which = pick(c, GRIDS - 1), ms = pick(c, 200);
    char *here = rig_path(&c->rig, "%s", grids[which]), *there = rig_path(&c->rig, "moved");
    if (rename(here, there) == 0) {
        nap_ms(ms);
        while (rename(there, here) < 0 && (errno == ENOTEMPTY || errno == EEXIST))
            dir_remove(here, NULL);
    }
    free(here);
    free(there);
}

/* Processes change it under the copy, so that any program would miss files: cp goes on. */
static void copy_grid(struct chaos *c)
{
    char command[256];
    int from = pick(c, GRIDS - 1);
    snprintf(command, sizeof(command), "cd %s && rm -rf copy && cp -r %s copy 2>/dev/null; true",
             c->rig.dir, grids[from]);
    expect(system(command) == 0, "a copy fails");
    start(c, "results copy --format csv");
}

static void size_disk(const struct chaos *c, int kib)
{
    char options[32], *path = rig_path(&c->rig, "disk");
    snprintf(options, sizeof(options), "size=%dk", kib);
    mount("tmpfs", path, "tmpfs", MS_REMOUNT, options);
    free(path);
}

static void fill_disk(struct chaos *c)
{
    int kib = 4 << pick(c, 10), ms = pick(c, 500);
    if (!c->has_disk)
        return;
    size_disk(c, kib);
    nap_ms(ms);
    size_disk(c, ROOM_KIB);
}

static const struct deed {
    const char *name;
    void (*act)(struct chaos *c);
    int weight;
} deeds[] = {
    {"starts", start_run, 6},           {"signals", send_signal, 12}, {"readers", start_reader, 4},
    {"limits", start_within_limits, 2}, {"swaps", swap_data, 1},      {"renames", rename_grid, 1},
    {"copies", copy_grid, 1},           {"disks", fill_disk, 2},
};
enum { DEEDS = sizeof(deeds) / sizeof(*deeds) };

static void do_one(struct chaos *c)
{
    int all = 0, which = 0;
    for (int i = 0; i < DEEDS; i++)
        all += deeds[i].weight;
    for (int left = pick(c, all); left >= deeds[which].weight; which++)
        left -= deeds[which].weight;
    deeds[which].act(c);
    c->done[which]++;
    reap(c);
    nap_ms(pick(c, 150));
}

/* ---- the whole ---- */

static void must_run(const struct chaos *c, const char *words)
{
    struct ran r;
    run_peat(&c->rig, 0, NULL, words, &r);
    expect(r.status == 0, "'peat %s' ends with %d:\n%s", words, r.status, r.err.text);
    ran_release(&r);
}

static void open_chaos(struct chaos *c, int argc, char **argv)
{
    *c = (struct chaos){.has_disk = false};
    rig_open(&c->rig, argc, argv);
    c->state = c->rig.seed;
    char *path = rig_path(&c->rig, "disk");
    c->has_disk = mkdir(path, 0777) == 0 && geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
                  mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                  mount("tmpfs", path, "tmpfs", 0, "size=16m") == 0;
    free(path);
    rig_write(&c->rig, "chaos.yaml", experiment);
    put_text(c, false);
    must_run(c, "run chaos.yaml -o whole");
}

static void end_all(struct chaos *c)
{
    pid_t pid[PROCESSES];
    for (int n; (n = list_processes(c, pid)) > 0; nap_ms(20))
        for (int i = 0; i < n; i++) {
            kill(pid[i], SIGKILL);
            reap(c);
        }
    reap(c);
}

/* Cells of other data belong to another plan. */
static void keep_planned(const struct chaos *c, const char *grid)
{
    char *cells = rig_path(&c->rig, "%s/cells", grid), **name = NULL;
    int n = 0;
    if (dir_list(cells, &name, &n, NULL) != PEAT_OK)
        n = 0;
    for (int i = 0; i < n; i++) {
        char *planned = rig_path(&c->rig, "whole/cells/%s", name[i]);
        char *extra = path_join(cells, name[i]);
        if (!file_exists(planned))
            dir_remove(extra, NULL);
        free(planned);
        free(extra);
    }
    names_free(name, n);
    free(cells);
}

/* Where the first line begins in which two texts differ. */
static size_t first_other_line(const char *a, const char *b)
{
    size_t line = 0;
    for (size_t i = 0; a[i] && a[i] == b[i]; i++)
        if (a[i] == '\n')
            line = i + 1;
    return line;
}

static void finish(const struct chaos *c, const char *grid, const char *fingerprint)
{
    char words[128];
    snprintf(words, sizeof(words), "run chaos.yaml -o %s -j 2 --retry-failed --rerun-stale", grid);
    must_run(c, words);
    keep_planned(c, grid);
    char *now = grid_fingerprint(&c->rig, grid);
    size_t same = first_other_line(now, fingerprint);
    expect(strcmp(now, fingerprint) == 0, "%s ends in other bytes: %.*s; expected %.*s", grid,
           (int)strcspn(now + same, "\n"), now + same, (int)strcspn(fingerprint + same, "\n"),
           fingerprint + same);
    expect_no_leftovers(&c->rig, grid, "when it is done");
    free(now);
}

static double seconds_of_chaos(const struct chaos *c)
{
    const char *given = getenv("PEAT_CHAOS_SECONDS");
    double seconds = given ? strtod(given, NULL) : 0;
    return seconds > 0 ? seconds : c->rig.is_long ? 120 : 6;
}

int main(int argc, char **argv)
{
    struct chaos c;
    open_chaos(&c, argc, argv);
    double seconds = seconds_of_chaos(&c), until = clock_seconds() + seconds;
    printf("seed %llu, %g s\n", c.rig.seed, seconds);
    fflush(stdout);
    while (clock_seconds() < until && failures() == 0)
        do_one(&c);
    end_all(&c);
    if (c.has_disk)
        size_disk(&c, ROOM_KIB);
    char *fingerprint = grid_fingerprint(&c.rig, "whole");
    for (int i = 0; i < GRIDS; i++)
        finish(&c, grids[i], fingerprint);
    for (int i = 0; i < DEEDS; i++)
        printf("%s%ld %s", i ? ", " : "", c.done[i], deeds[i].name);
    printf("; %d grids compared\n", GRIDS);
    free(fingerprint);
    if (c.has_disk) {
        char *path = rig_path(&c.rig, "disk");
        umount(path);
        free(path);
    }
    return rig_close(&c.rig);
}
