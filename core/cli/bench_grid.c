/* SPDX-License-Identifier: MIT */
/* bench_grid.c: how many cells of a small experiment are done in an hour. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/own_dir.h"
#include "base/shown.h"
#include "base/stops.h"
#include "cli/bench.h"
#include "process/child.h"
#include "process/program.h"

enum { CELLS = 16, PATH_BYTES = 1024 };

static const char experiment[] = "version: 1\n"
                                 "name: bench\n"
                                 "defaults:\n"
                                 "  task: {plugin: reverse, symbols: 8}\n"
                                 "  model: {d_model: 64, n_layer: 2, n_head: 4}\n"
                                 "  train: {steps: 100, batch: 16, seq_len: 31}\n"
                                 "  eval: {lengths: [8], tokens: 512}\n"
                                 "matrix:\n"
                                 "  position.scheme: [none, learned, sinusoidal, rotary]\n"
                                 "seeds: 4\n";

/* The program itself on the experiment, as a user would call it. */
static peat_status run_grid(const char *dir, int jobs, double *seconds, struct error *err)
{
    char program[PATH_BYTES], file[PATH_BYTES], runs[PATH_BYTES], log[PATH_BYTES], number[16];
    snprintf(file, sizeof(file), "%s/bench.yaml", dir);
    snprintf(runs, sizeof(runs), "%s/jobs-%d", dir, jobs);
    snprintf(log, sizeof(log), "%s/log-%d.txt", dir, jobs);
    snprintf(number, sizeof(number), "%d", jobs);
    peat_status status = own_program(program, sizeof(program), err);
    if (status != PEAT_OK)
        return status;
    char *const argv[] = {program, "run", file, "-o", runs, "-j", number, NULL};
    struct child run = {.argv = argv, .log = log, .own_group = true, .grace = 10};
    status = child_start(&run, err);
    if (status != PEAT_OK)
        return status;
    child_wait(&run);
    *seconds = clock_seconds() - run.started;
    if (run.code == 0)
        return PEAT_OK;
    char *text = NULL;
    size_t n = 0;
    if (file_read(log, 0, &text, &n, NULL) == PEAT_OK)
        shown_print(stderr, "%s", text);
    free(text);
    return error_set(err, PEAT_FAILED, "the experiment did not end well");
}

static void print_jobs(int jobs, double seconds, bool json)
{
    struct arena a;
    arena_init(&a, "grid", 4096);
    struct json map = json_map(&a);
    json_put_int(map, "jobs", jobs);
    json_put_int(map, "cells", CELLS);
    bench_put(map, "seconds", seconds, 3);
    bench_put(map, "cells_per_hour", CELLS * 3600.0 / seconds, 0);
    bench_print(map, json);
    arena_release(&a);
}

static peat_status run_grids(const char *dir, bool json, struct error *err)
{
    char *file = path_join(dir, "bench.yaml");
    peat_status status = file_write(file, experiment, strlen(experiment), err);
    for (int jobs = 1; status == PEAT_OK && jobs <= 2; jobs++) {
        double seconds = 0.0;
        status = run_grid(dir, jobs, &seconds, err);
        if (status == PEAT_OK)
            print_jobs(jobs, seconds, json);
    }
    free(file);
    return status;
}

int bench_grid(const struct bench_sizes *s, bool json)
{
    (void)s;
    struct error err = {0};
    struct own_dir dir;
    struct stops_held held;
    stops_hold(&held);
    peat_status status = own_dir_open(&dir, "bench", &err);
    if (status == PEAT_OK) {
        status = run_grids(dir.path, json, &err);
        own_dir_close(&dir);
    }
    stops_let(&held);
    return status == PEAT_OK ? CLI_DONE : cli_refuse(&err);
}
