/* SPDX-License-Identifier: MIT */
/*
 * test_kill.c: SIGKILL at any instant, to the parent of a grid, to its cells, or to all of them.
 *
 * A grid of 16 cells is started, killed after a random time, and started again, until it is done.
 * Then its curves and results must be byte for byte those of an uninterrupted run. This is repeated
 * until the kills are used up. In between, `peat results` shows only numbers of the uninterrupted
 * run.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"
#include "fault/faultkit.h"

static const char experiment[] =
    "version: 1\n"
    "name: kill\n"
    "defaults:\n"
    "  task: {plugin: text, path: text.txt}\n"
    "  model: {d_model: 16, n_layer: 1, n_head: 2, dropout: 0.1}\n"
    "  train: {steps: 60, batch: 2, seq_len: 16}\n"
    "  eval: {every: 20, lengths: [16, 32], tokens: 64}\n"
    "matrix:\n"
    "  position.scheme: [learned, sinusoidal, [learned, alibi], rotary]\n"
    "  model.n_head: [1, 2]\n"
    "seeds: 2\n"
    "run: {jobs: 2, checkpoint: {every: 5}}\n";

#define AGAIN "run kill.yaml -o cut --retry-failed"

enum victim { PARENT, CELLS, EVERYONE, VICTIMS };
static const char *const victim_names[VICTIMS] = {"parent", "cells", "everyone"};

static void pause_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    while (nanosleep(&time, &time) < 0 && errno == EINTR)
        ;
}

/* The cells that say they run. */
static int kill_cells(const struct rig *s)
{
    char *cells = rig_path(s, "cut/cells"), **name = NULL;
    int n = 0, killed = 0;
    if (dir_list(cells, &name, &n, NULL) != PEAT_OK)
        n = 0;
    for (int i = 0; i < n; i++) {
        struct arena a;
        struct value *running = NULL;
        char *dir = path_join(cells, name[i]);
        arena_init(&a, "running", 4096);
        if (json_read_file(dir, "running.json", &a, &running, NULL) == PEAT_OK) {
            pid_t pid = (pid_t)json_get_int(running, "pid", 0);
            killed += pid > 1 && kill(pid, SIGKILL) == 0;
        }
        arena_release(&a);
        free(dir);
    }
    names_free(name, n);
    free(cells);
    return killed;
}

/* How the parent ended: an exit status, or -1 by a signal. */
static int reap(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* True when the grid is done: the kill came too late or hit nobody. */
static bool run_and_kill(const struct rig *s, double after, enum victim victim, int *kills)
{
    pid_t pid = start_peat(s, 1, AGAIN);
    pause_for(after);
    if (victim != CELLS)
        kill(pid, SIGKILL);
    int cells = victim == PARENT ? 0 : kill_cells(s);
    int status = reap(pid);
    *kills += status < 0 || cells > 0;
    expect(status == -1 || status == 0 || (status == 1 && cells > 0),
           "%s after %.3f s: the parent ends with %d", victim_names[victim], after, status);
    return status == 0;
}

static void must_run(const struct rig *s, const char *words, struct ran *r)
{
    run_peat(s, 0, NULL, words, r);
    if (r->status == 0)
        return;
    fprintf(stderr, "'peat %s' ends with %d\n%s", words, r->status, r->err.text);
    exit(EXIT_FAILURE);
}

static double make_reference(const struct rig *s, char **fingerprint, struct ran *csv)
{
    struct ran r;
    rig_write_text(s, 400, -1);
    rig_write(s, "kill.yaml", experiment);
    double start = clock_seconds();
    must_run(s, "run kill.yaml -o whole", &r);
    double seconds = clock_seconds() - start;
    ran_release(&r);
    *fingerprint = grid_fingerprint(s, "whole");
    must_run(s, "results whole --format csv", csv);
    return seconds;
}

static void check_done(const struct rig *s, const char *fingerprint)
{
    struct ran r;
    must_run(s, AGAIN, &r);
    ran_release(&r);
    char *now = grid_fingerprint(s, "cut");
    expect(strcmp(now, fingerprint) == 0, "the grid ends in other bytes");
    expect_no_leftovers(s, "cut", "when it is done");
    free(now);
    char *dir = rig_path(s, "cut");
    dir_remove(dir, NULL);
    free(dir);
}

/* In the table of a directory that has one. */
static void check_between(const struct rig *s, const char *csv, int kills)
{
    char *plan = rig_path(s, "cut/plan.json"), what[32];
    snprintf(what, sizeof(what), "after kill %d", kills);
    if (file_exists(plan))
        expect_table_within(s, 0, "cut", csv, what);
    free(plan);
}

int main(int argc, char **argv)
{
    struct rig s;
    char *fingerprint;
    struct ran csv;
    rig_open(&s, argc, argv);
    double seconds = make_reference(&s, &fingerprint, &csv);
    unsigned long long state = s.seed;
    int wanted = s.is_long ? 100 : 12, kills = 0, grids = 0;
    for (int i = 0; kills < wanted && i < 20 * wanted && failures() == 0; i++) {
        double after = seconds * (double)(draw(&state) % 1000) / 1000 * (i % 4 == 0 ? 0.1 : 0.6);
        enum victim victim = (enum victim)(draw(&state) % VICTIMS);
        bool done = run_and_kill(&s, after, victim, &kills);
        check_between(&s, csv.out.text, kills);
        if (!done)
            continue;
        check_done(&s, fingerprint);
        grids++;
    }
    check_done(&s, fingerprint);
    printf("%d kills, %d grids finished and compared with one of %.1f s, seed %llu\n", kills,
           grids + 1, seconds, s.seed);
    expect(kills >= wanted || failures() > 0, "only %d kills hit", kills);
    ran_release(&csv);
    free(fingerprint);
    return rig_close(&s);
}
