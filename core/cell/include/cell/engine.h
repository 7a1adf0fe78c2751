/* SPDX-License-Identifier: MIT */
/*
 * engine.h: a cell's passes in PyTorch (run.engine: torch).
 *
 * A process of Python, python/peat/torch/engine.py, has the weights and the moments, and computes
 * steps and evaluations. All else stays here: batches, the learning rate, the end of training, the
 * curve, checkpoints and results. The two exchange messages over a socket; a message is the length
 * of a safetensors file (8 bytes) and the file, whose metadata have the command or the answer. The
 * process ends with this one.
 */
#pragma once

#include "cell/assemble.h"
#include "train/trainer.h"

/* The words of run.engine and run.device, in the order of the enums. */
#define ENGINE_WORDS "peat", "torch", "torch.compile"
#define DEVICE_WORDS "cpu", "cuda"

enum run_engine { ENGINE_PEAT, ENGINE_TORCH, ENGINE_TORCH_COMPILE };
/* ENGINE_WORDS; NULL ends the list. */
extern const char *const engine_words[];
enum device { DEVICE_CPU, DEVICE_CUDA };
/* DEVICE_WORDS; NULL ends the list. */
extern const char *const device_words[];

/* What computes, and where. */
struct engine_place {
    enum run_engine engine; /* not ENGINE_PEAT */
    enum device device;
};

struct engine;

/* Starts the process, which builds the model of the configuration (config.json's content) with the
 * assembly's weights. NULL: an error. All memory is in the arena. */
struct engine *engine_open(const struct cell_config *c, const struct value *config,
                           const struct assembly *s, struct engine_place place, int threads,
                           struct arena *a, struct error *err);
/* Gives the process the weights, moments and step of the trainer, which it computes for from now
 * on. */
bool engine_load(struct engine *e, struct trainer *t, struct error *err);
/* "PyTorch 2.6.0, cpu": the program, how it computes, the device and the precision. */
const char *engine_by(const struct engine *e);
/* [{path, sha256}] of the formulas of the cell's plugins. */
const struct value *engine_formulas(const struct engine *e);
/* Ends the process. e may be NULL. */
void engine_close(struct engine *e);

/* Whether a cell with these plugins can be computed: each has a formula. False: an error with the
 * place of the plugin. */
bool engine_has_formulas(const struct cell_config *c, struct arena *a, struct error *err);
/* False, with an error, where one of them is Python alone, which peat's own engine cannot compute.
 */
bool engine_can_compute(const struct cell_config *c, struct error *err);
/* Whether Python, PyTorch, what it compiles with and the device are there. */
peat_status engine_check(struct engine_place place, struct arena *a, struct error *err);
