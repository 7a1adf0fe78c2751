/* SPDX-License-Identifier: MIT */
/*
 * test_check.c: `peat plugins check` catches each crime of planted/ by the check meant for it, with
 * a message that names the mistake and its place.
 */
#include <fnmatch.h>

#include "plugin/registry.h"
#include "support/shell.h"
#include "support/support.h"

/* A crime is planted/<source>.c with CRIME_<name>; `end` is how the check must end, `text` what it
 * must say: a pattern, in which `*` stands for numbers whose last digits depend on the machine. */
struct crime {
    const char *source, *name, *check, *end, *text;
};

#define W_IS_WRONG "*[[]*]: gradient *, central difference * at T = *"

#define READS_MORE                                                                                 \
    "the loss is not a number when memory that was neither given nor written holds NaN: the "      \
    "plugin reads it (*"

static const struct crime crimes[] = {
    {"kernel", "grad_sign", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_scale", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_missing_term", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_one_index", "gradients", "failed",
     "*planted.w[[]5]: gradient *, central difference * at T = * (*"},
    {"kernel", "grad_zero", "gradients", "failed",
     "*planted.w[[]*]: gradient 0, central difference * at T = * (*"},
    {"kernel", "grad_transposed", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_assigns", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_broadcast", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_wrong_tensor", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_off_by_one", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_of_result", "gradients", "failed", W_IS_WRONG},
    {"kernel", "grad_operand_only", "gradients", "failed",
     "*planted.w[[]*]: gradient 0, central difference * at T = * (*"},
    {"kinked", "forgets_the_last", "gradients", "failed",
     "*planted.w[[]2099]: gradient 0, central difference * at T = * (*"},
    {"parameters", "wrong_label", "gradients", "failed",
     "*[[]*]: gradient *, central difference * at T = * (*"},
    {"stream", "claims_shift", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by 7 (*"},
    {"stream", "claims_norm", "norm-preserving", "failed",
     "it claims to preserve norms, but makes a query at place * of * one of * (*"},
    {"stream", "claims_norm_without_qkv", "norm-preserving", "failed",
     "it claims to preserve norms, but has no hook qkv (*"},
    {"stream", "claims_permutation", "permutation-equivariant", "failed",
     "it claims to be permutation-equivariant, but the logits at place * differ by * when its "
     "token moves there from place * (*"},
    {"stream", "claims_length", "finite-length", "failed",
     "it claims a finite length, but takes sequences of eight times the model's, and models for "
     "65536"},
    {"stream", "claims_no_trainable", "no-trainable", "failed",
     "it claims to have no trained tensors, but registers '*gain' (*"},
    {"stream", "claims_content", "content-dependent", "failed",
     "it claims to depend on content, but asks for none: no hook sees tokens, queries, keys or "
     "scores"},
    {"neighbour", "stores_no_neighbour", "storable", "failed",
     "it claims to be storable, but the logits at place * differ by * between a pass over all rows "
     "and one over the newest (*"},
    {"combine", "stores_sums", "storable", "failed",
     "it claims to be storable, but the logits at place * differ by * between a pass over all rows "
     "and one over the newest (*"},
    {"across", "across_nothing", "across", "failed",
     "it claims to act across two sequences, but where.across changes no logit (*"},
    {"across", "across_by_row", "across", "failed",
     "it claims to act across two sequences, but the logits at place * differ by * between a pass "
     "over all rows and one over the newest (*"},
    {"across", "across_square", "across", "failed", "*"},
    {"neighbour", "sees_future", "causality", "failed", "the logits at place * differ by *"},
    {"combine", "merges_future", "causality", "failed", "the logits at place * differ by *"},
    {"neighbour", "sees_length", "prefix", "failed",
     "the logits at place * differ by * between * tokens and their first * (*"},
    {"neighbour", "sees_batch", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"neighbour", "sees_padding", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"neighbour", "sees_document", "packing", "failed",
     "the logits at place * differ by * between a document packed with another and the document "
     "alone (*"},
    {"process", "counts_calls", "purity", "failed", "the loss is * and * in two equal calls (*"},
    {"process", "remembers_batch", "purity", "failed", "the loss is * and * *"},
    {"process", "counts_models", "purity", "failed",
     "the loss is * and * in a second model of the same kind, *(*"},
    {"kernel", "sees_thread", "threads", "failed",
     "the loss is * and * with 1 and with * threads (*"},
    {"kernel", "writes_operand", "buffers", "failed",
     "the result of '*'*was written to by what ran after it (*"},
    {"kernel", "writes_beyond", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"kernel", "writes_tensor", "buffers", "failed", "a trained tensor was written to (*"},
    {"process", "writes_tokens", "buffers", "failed", "the token ids were written to (*"},
    {"process", "leaks", "leaks", "failed", "20 steps keep * bytes (*"},
    {"process", "sets_rounding", "environment", "failed",
     "changed how numbers are rounded, or the treatment of denormals (*"},
    {"process", "sets_locale", "environment", "failed",
     "changed the locale from 'C' to 'C.UTF-8' (*"},
    {"process", "sets_directory", "environment", "failed",
     "changed the current directory from '/*' to '/' (*"},
    {"process", "sets_signal", "environment", "failed", "changed what SIGUSR1 does (*"},
    {"process", "sets_variable", "environment", "failed", "changed an environment variable (*"},
    {"process", "sets_umask", "environment", "failed", "changed the umask (*"},
    {"process", "keeps_file", "environment", "failed",
     "changed the number of open files from * to * (*"},
    {"process", "starts_thread", "environment", "failed",
     "changed the number of threads from * to * (*"},
    {"parameters", "refuses_defaults", "parameters", "failed", "it refuses every cell: *"},
    {"parameters", "fails_at_bound", "parameters", "failed",
     "with size: 64 its set-up fails: *'planted' failed while it was set up: failed"},
    {"parameters", "dies_at_bound", "parameters", "crashed", "planted.setup: killed by signal *"},
    {"stream", "not_finite", "finite", "failed", "a logit at place * of * is not a number (*"},
    {"stream", "wrong_shape", "finite", "failed",
     "planted.encode: the hook returned shape *, expected *"},
    {"process", "dies_in_hook", "finite", "crashed",
     "planted.residual: killed by signal 11 (Segmentation fault)*"},
    {"process", "aborts", "finite", "crashed", "planted.residual: killed by signal 6 (Aborted)*"},
    {"process", "exits", "finite", "crashed",
     "planted.residual: the process ended with code 0 before the check did*"},
    {"process", "hangs", "finite", "timeout", "planted.residual: still running after 2 seconds"},
    {"process", "dies_on_load", "abi", "crashed",
     "dies_on_load.load: killed by signal 6 (Aborted)*"},
    {"process", "exports_more", "abi", "failed",
     "it exports 'helper'; only peat_entry may be seen from outside (compile with "
     "-fvisibility=hidden)"},
    {"combine", "ignores_width", "widths", "failed",
     "stream 1 is always 1 wide, and the plugin gives it 2 (width 2, 2 streams)"},
    {"combine", "merges_two", "finite", "failed",
     "planted.merge: the hook returned shape *, expected *"},
    {"task", "task_ids", "batches", "failed",
     "it refuses every cell: task 'planted': training batch 1 has token 8, the limit is 8"},
    {"task", "task_counts", "batches", "failed",
     "the training batch of step 1 differs when it is made again (*"},
    {"task", "task_reads_another_file", "batches", "failed",
     "*'planted' reads 'elsewhere', which no parameter with PEAT_PATH names*"},
    {"task", "task_tests_on_validation", "batches", "failed",
     "12 of 12 rows of the test part of length * are rows of the validation part (*"},
    {"task", "task_one_seed", "batches", "failed",
     "the seed does not change its training batches (*"},
    {"task", "task_eval_seed", "batches", "failed",
     "evaluation batch 0 of length * differs between two seeds (*"},
    {"task", "task_eval_rows", "batches", "failed",
     "evaluation row 1 depends on the number of rows in a batch (*"},
    {"peeker", "newline_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "mark_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "mark_far_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "zero_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "sees_lag_9", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "sees_lag_30", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "sees_last", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "training_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"peeker", "training_rows", "batch", "failed",
     "the logits at place * differ by * in training when other rows change (*"},
    {"peeker", "training_row_count", "batch", "failed",
     "the logits at place * differ by * in training between more and fewer rows in a batch (*"},
    {"peeker", "training_draws", "batch", "failed",
     "the logits at place * differ by * in training *"},
    {"peeker", "training_padding", "padding", "failed",
     "the logits at place * differ by * in training when the tokens under padding change (*"},
    {"peeker", "training_document", "packing", "failed",
     "the logits at place * differ by * in training when another document changes (*"},
    {"peeker", "next_document", "packing", "failed",
     "the logits at place * differ by * between a document packed with another and the document "
     "alone (*"},
    {"peeker", "period_7", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by * (*"},
    {"peeker", "far_out", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by * (*"},
    {"peeker", "very_far_out", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by * (*"},
    {"peeker", "clamped_place", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by * (*"},
    {"peeker", "scratch_overrun", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"peeker", "scratch_one_more", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"peeker", "scratch_before", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"peeker", "positions_overrun", "buffers", "failed",
     "memory is written to around what * was given or made (*"},
    {"kernel", "writes_all_units", "buffers", "failed",
     "'crime' in planted.residual writes outside of the units it is asked for (*"},
    {"kernel", "writes_next_unit", "buffers", "failed",
     "'crime' in planted.residual writes outside of the units it is asked for (*"},
    {"kernel", "leaves_a_unit", "buffers", "failed",
     "'crime' in planted.residual leaves a part of its result unwritten (*"},
    {"kernel", "grad_all_units", "gradients", "failed",
     "*[[]*]: gradient *, central difference * at T = * (*"},
    {"softmax", "softmax_unmasked", "masked", "failed",
     "planted.softmax gives the query at place * a weight of * for the key at place *, which the "
     "mask hides*"},
    {"softmax", "softmax_sees_future", "masked", "failed",
     "planted.softmax gives the query at place * a weight of * for the key at place *, which the "
     "mask hides*"},
    {"softmax", "softmax_sees_padding", "masked", "failed",
     "planted.softmax gives the query at place * a weight of * for the key at place *, which the "
     "mask hides*"},
    {"softmax", "softmax_nearly_masked", "masked", "failed",
     "planted.softmax gives the query at place * a weight of * for the key at place *, which the "
     "mask hides*"},
    {"softmax", "softmax_in_training", "masked", "failed",
     "planted.softmax gives the query at place * a weight of 0.01 for the key at place *, which "
     "the mask hides* in training (*"},
    {"softmax", "softmax_sums_all", "causality", "failed", "the logits at place * differ by *"},
    {"softmax", "softmax_sums_padding", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone *"},
    {"softmax", "softmax_sees_batch", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"softmax", "softmax_no_gradient", "gradients", "failed", W_IS_WRONG},
    {"softmax", "softmax_not_finite", "finite", "failed",
     "a logit at place * of * is not a number (*"},
    {"softmax", "softmax_shape", "finite", "failed",
     "planted.softmax: the hook returned shape *, expected *"},
    {"softmax", "softmax_counts", "purity", "failed", "the loss is * and * in two equal calls (*"},
    {"results", "scratch_one_too_many", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"results", "scratch_far_beyond", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"results", "scratch_carries", "threads", "failed", "the loss is * and * with 1 and with *"},
    {"results", "second_unwritten", "buffers", "failed",
     "'crime' in planted.residual leaves a part of its result unwritten (*"},
    {"results", "second_written_once", "gradients", "failed",
     "*: gradient *, central difference * at T = * (*"},
    {"results", "first_too_long", "buffers", "failed",
     "'crime' in planted.residual writes outside of the units it is asked for (*"},
    {"results", "second_gradient_forgotten", "gradients", "failed",
     "*: gradient *, central difference * at T = * (*"},
    {"results", "gradients_swapped", "gradients", "failed",
     "*: gradient *, central difference * at T = * (*"},
    {"results", "gradient_without_mean", "gradients", "failed",
     "*: gradient *, central difference * at T = * (*"},
    {"results", "one_asked_for", "finite", "failed",
     "planted.residual: crime: it has 2 results, which peat_custom_all gives (*"},
    {"own", "own_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"own", "own_far_ahead", "causality", "failed", "the logits at place * differ by *"},
    {"own", "own_rows", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"own", "own_training_rows", "batch", "failed",
     "the logits at place * differ by * in training when other rows change (*"},
    {"own", "own_documents", "packing", "failed",
     "the logits at place * differ by * between a document packed with another and the document "
     "alone (*"},
    {"own", "own_length", "prefix", "failed",
     "the logits at place * differ by * between * tokens and their first * (*"},
    {"own", "own_shifts", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by * (*"},
    {"own", "own_not_finite", "finite", "failed",
     "planted.own_positions: the position of place * is * (*"},
    {"own", "own_counts", "purity", "failed", "the loss is * and * in two equal calls (*"},
    {"own", "own_overrun", "buffers", "failed",
     "memory is written to around what planted.own_positions was given or made (*"},
    {"task", "task_rows_alike", "batches", "failed",
     "the rows of a training batch are all the same (*"},
    {"task", "task_eval_alike", "batches", "failed", "the rows of length * are all the same (*"},
    {"task", "task_draws_overlap", "draws", "failed",
     "two rows of a training batch make the same draw, number * of its stream: their draws overlap "
     "(*"},
    {"task", "task_steps_overlap", "draws", "failed",
     "two * make the same draw, number * of its stream (*"},
    {"task", "task_trains_on_evaluation", "draws", "failed",
     "training step * makes a draw that evaluation makes too, number * of its stream (*"},
    {"task", "task_gives_the_target", "answers", "failed",
     "every target in * is the token at its own place, which the model is given (*"},
    {"task", "task_evaluates_the_token", "answers", "failed",
     "every target in evaluation is the token at its own place, which the model is given (*"},
    {"task", "task_asks_for_one", "answers", "failed",
     "all * rows in evaluation have the same targets (*"},
    {"task", "task_answer_before", "answers", "failed",
     "the answer in * is always the token 4 places before the place that asks for it (*"},
    {"task", "task_answer_first", "answers", "failed",
     "every target in * is the first token of its row (*"},
    {"task", "task_target_padded", "batches", "failed",
     "the target at place * of row * is under padding (*"},
    {"task", "task_other_length", "batches", "failed",
     "sequences of length * have * tokens, and its set-up answered * (*"},
    {"task", "task_units_of_a_row", "batches", "failed",
     "the units of * rows of evaluation are * in one batch and * in batches of one (*"},
    {"task", "task_lengths_alike", "answers", "failed",
     "length * is evaluated on the rows of length * (*"},
    {"task", "task_metric_by_sequences", "metrics", "failed",
     "metric 'score' is not a number when 0 of 1000 targets are right"},
    {"task", "task_writes_beyond", "batches", "failed",
     "memory is written to around the arrays of a batch (*"},
    {"task", "task_writes_flags", "batches", "failed",
     "memory is written to around the arrays of a batch (*"},
    {"task", "task_answer_differs", "batches", "failed",
     "the answer of row 0 has target * at place *, but its input goes on with * (*"},
    {"task", "task_metric_nan", "metrics", "failed",
     "metric 'score' is not a number when 0 of 1000 targets are right"},
    {"task", "task_metric_goal", "metrics", "failed",
     "metric 'score' says that more is better, but goes from * over * to * as more targets are "
     "right"},
    {"memory", "adds_beyond", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"memory", "multiplies_beyond", "buffers", "failed",
     "memory is written to around what planted.residual was given or made (*"},
    {"memory", "adds_far_beyond", "buffers", "crashed", "planted.residual: killed by signal 11 *"},
    {"memory", "reads_far_beyond", "buffers", "crashed", "planted.residual: killed by signal 11 *"},
    {"memory", "reads_beyond", "buffers", "failed", READS_MORE},
    {"memory", "reads_a_position_beyond", "buffers", "failed", READS_MORE},
    {"memory", "leaves_odd_places", "buffers", "failed", READS_MORE},
    {"memory", "counts_statically", "statics", "failed", "its static variable '*' changes *"},
    {"memory", "remembers_config", "statics", "failed", "its static variable 'kept' changes *"},
    {"memory", "keeps_a_table", "statics", "failed", "its static variable 'kept' changes *"},
    {"slope", "keeps_in_its_thread", "statics", "failed",
     "its thread-local variable 'calls' changes *"},
    {"slope", "shares_config", "purity", "failed",
     "the loss is * and * in a second model of the same kind, *(*"},
    {"slope", "reads_the_total", "lengths", "failed",
     "the logits at place * differ by * with T_total, which it reads without PEAT_NEED_LENGTH (*"},
    {"combine", "merges_by_the_total", "lengths", "failed",
     "the logits at place * differ by * with T_total, which it reads without PEAT_NEED_LENGTH (*"},
    {"slope", "whole_positions", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by 5.25 (*"},
    {"slope", "sees_padded_sources", "across", "failed",
     "it claims to act across two sequences, but the logits at place * differ by * when the tokens "
     "under padding of a source change (*"},
    {"slope", "counts_padding", "across", "failed",
     "it claims to act across two sequences, but the logits at place * differ by * when a source "
     "is padded (*"},
    {"slope", "counts_padding_in_total", "across", "failed",
     "it claims to act across two sequences, but the logits at place * differ by * when a source "
     "is padded (*"},
    {"memory", "reads_clock", "abi", "failed", "it imports 'time', which reads a clock: *"},
    {"memory", "draws_alone", "abi", "failed", "it imports 'rand', which draws *"},
    {"memory", "reads_environment", "abi", "failed",
     "it imports '*getenv', which reads the environment: add a parameter"},
    {"memory", "opens_a_file", "abi", "failed", "it imports 'fopen*', which opens files: *"},
    {"kernel", "grad_far", "gradients", "failed",
     "*[[]*]: gradient *, central difference * at T = * (*"},
    {"kernel", "grad_by_place", "gradients", "failed",
     "*[[]*]: gradient *, central difference * at T = * (*"},
    {"kernel", "never_used", "gradients", "failed",
     "idle: the gradient of every element is 0, in training and in evaluation: *"},
    {"kernel", "never_trained", "gradients", "failed",
     "w: the gradient of every element is 0, in training and in evaluation: it is trained and "
     "never changes"},
    {"kernel", "grad_in_f32", "precision", "failed",
     "the gradient of *planted.w in F32 is * away from that in F64, whose length is * (*"},
    {"kernel", "wrong_in_f32", "precision", "failed",
     "a logit at place * is * in F32 and * in F64 (*"},
    {"far", "ahead_when_long", "causality", "failed", "the logits at place * differ by *"},
    {"far", "ahead_late", "causality", "failed", "the logits at place * differ by *"},
    {"far", "ahead_when_trained", "causality", "failed", "the logits at place * differ by *"},
    {"far", "nan_when_trained", "finite", "failed", "a logit at place * of * is not a number (*"},
    {"far", "ahead_from_step_50", "causality", "failed", "the logits at place * differ by *"},
    {"far", "rows_from_step_1000", "batch", "failed",
     "the logits at place * differ by * in training when other rows change (*"},
    {"far", "ahead_when_deep", "causality", "failed", "the logits at place * differ by *"},
    {"far", "ahead_when_far", "causality", "failed", "the logits at place * differ by *"},
    {"far", "nan_when_far", "finite", "failed", "a logit at place * of * is not a number (*"},
    {"far", "by_layer", "where", "failed",
     "the logits at place * differ by * between a bias made at layer -1, for all layers, and one "
     "made in each layer (*"},
    {"far", "by_longest", "lengths", "failed",
     "the logits at place * differ by * when the model is made for longer sequences (T_max) (*"},
    {"far", "dims_of_all_heads", "where", "failed",
     "planted.bias: the hook returned shape *, expected * (*"},
    {"far", "dims_of_the_model", "where", "failed",
     "planted.qkv: mul: shapes * do not broadcast (*"},
    {"cells", "starts_outside", "start", "failed",
     "*planted.w starts outside its bounds, 1 to 10: the first update moves it there (*"},
    {"cells", "next_segment", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"cells", "next_mark", "prefix", "failed",
     "the logits at place * differ by * between * tokens and their first * (*"},
    {"cells", "index_when_long", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"cells", "row_0_from_4_on", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"cells", "base_of_1", "parameters", "failed", "with base: 1 the loss is not a number"},
    {"cells", "writes_config", "purity", "failed", "its hooks change its parameters (*"},
    {"cells", "counts_in_self", "purity", "failed",
     "its hooks change memory that its set-up took (*"},
    {"cells", "axis_nan", "finite", "failed", "a logit at place * of * is not a number (*"},
    {"cells", "axis_moves", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * when all positions "
     "move by * (*"},
    {"cells", "class_id", "finite", "failed", "planted.residual: gather_rows: index * is not in *"},
    {"cells", "second_axis", "finite", "failed", "a logit at place * of * is not a number (*"},
    {"cells", "layer_ignored", "gradients", "failed",
     "w: the gradient of some layer of * is 0: those numbers are trained and never change"},
    {"cells", "last_head_unused", "gradients", "failed",
     "w: the gradient of some head of * is 0: those numbers are trained and never change"},
    {"task", "task_leaks", "leaks", "failed", "200 batches keep * bytes"},
    {"places", "counts_the_row", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"places", "draws_of_row_0", "batch", "failed",
     "the logits at place * differ by * in training when other rows change (*"},
    {"places", "index_beyond_64", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"places", "last_of_document", "packing", "failed",
     "the logits at place * differ by * between a document packed with another and the document "
     "alone (*"},
    {"places", "one_row_is_newest", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"places", "share_of_segment", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"places", "until_separator", "prefix", "failed",
     "the logits at place * differ by * between * tokens and their first * (*"},
    {"axes", "cosine_of_rows", "norm-preserving", "failed",
     "it claims to preserve norms, but makes a * at place * of * one of * (*"},
    {"axes", "interleaved_axes", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"axes", "keys_as_queries", "finite", "failed",
     "planted.qkv: rotate: cosine or sine of shape * for an operand * (*"},
    {"axes", "third_axis", "finite", "failed", "a logit at place * is not a number (*"},
    {"layers", "label_forgotten", "gradients", "failed",
     "power: the gradient of every element is 0, *"},
    {"layers", "rows_of_longest", "finite", "failed",
     "planted.hidden: gather_rows: index * is not in 0..* (*"},
    {"layers", "some_start_outside", "start", "failed",
     "*planted.near starts outside its bounds, 0.4 to 10: the first update moves it there (*"},
    {"settings", "untrained_by_default", "no-trainable", "failed",
     "it claims to have no trained tensors, but registers '*part' (*"},
    {"keeping", "remembers_step", "purity", "failed",
     "the loss is * and * in a second model of the same kind, which made passes of other steps "
     "before (*"},
    {"blocks", "flops_below_0", "costs", "failed",
     "'turned' in planted.residual costs -* operations (*"},
    {"blocks", "in_place_when_long", "gradients", "failed",
     "*planted.rate[[]0]: gradient *, central difference * at T = * (*"},
    {"blocks", "pairs_of_channels", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"masks", "marks_of_queries", "storable", "failed",
     "it claims to be storable, but the logits at place * differ by * between a pass over all rows "
     "and one over the newest (*"},
    {"masks", "mean_of_all_keys", "storable", "failed",
     "it claims to be storable, but the logits at place * differ by * between a pass over all rows "
     "and one over the newest (*"},
    {"axes", "keys_by_other_axis", "shift-invariant", "failed",
     "it claims to be shift-invariant, but the logits at place * differ by * (*"},
    {"axes", "stride_of_axis", "batch", "failed",
     "the logits at place * differ by * between a row in a batch and the row alone (*"},
    {"layers", "carry_stops", "gradients", "failed",
     "pull: the gradient of some layer of * is 0: those numbers are trained and never change"},
    {"layers", "heads_outside_clamp", "gradients", "failed",
     "gain: the gradient of some head of * is 0: those numbers are trained and never change"},
    {"layers", "layers_in_turn", "gradients", "failed",
     "gain: the gradient of some layer of * is 0: those numbers are trained and never change"},
    {"layers", "negative_position", "finite", "failed",
     "planted.hidden: gather_rows: index -* is not in 0..7 (*"},
    {"settings", "radians_in_place", "purity", "failed",
     "the loss is * and * in a second model of the same kind, *(*"},
    {"settings", "reach_of_one", "storable", "failed",
     "it claims to be storable, but the logits at place * differ by * between a pass over all rows "
     "and one over the newest (*"},
    {"keeping", "caches_behind_self", "purity", "failed",
     "the loss is * and * in a second model of the same kind, which made passes of other steps "
     "before (*"},
    {"keeping", "rate_by_processors", "abi", "failed",
     "it imports 'sched_getaffinity', which reads the process or the host: *"},
    {"blocks", "gradient_of_row_0", "gradients", "failed",
     "*: gradient *, central difference * at T = * (*"},
    {"blocks", "tail_when_long", "gradients", "failed",
     "*planted.rate[[]0]: gradient *, central difference * at T = * (*"},
    {"masks", "forgets_window", "masked", "failed",
     "planted.softmax gives the query at place * a weight of * for the key at place *, which the "
     "mask hides*"},
    {"settings", "second_phase", "finite", "failed", "a logit at place * is not a number (*"},
    {"blocks", "forgets_the_far", "buffers", "failed", READS_MORE},
    {"blocks", "shares_workspace", "buffers", "failed",
     "'turned' in planted.residual writes to scratch memory of its hook, which all units share (*"},
    {"masks", "columns_of_the_call", "finite", "failed",
     "planted.softmax: the hook returned shape *, expected * (*"},
    {"questions", "half_of_test_is_validation", "batches", "failed",
     "* of 48 rows of the test part of length * are rows of the validation part (*"},
    {"questions", "own_lengths", "batches", "failed",
     "it evaluates length *, which eval.lengths does not have there (*"},
    {"questions", "pad_without_flag", "batches", "failed",
     "it fills 'pad' and leaves has_pad false (*"},
    {"questions", "rows_of_first_length", "batches", "failed",
     "rows of length * have no more places without padding than those of length * (*"},
    {"join", "stream_of_row_0", "padding", "failed",
     "the logits at place * differ by * between a row with padding * it and the row alone (*"},
    {"join", "two_streams", "streams", "failed",
     "stream 2 of the input, after that of tokens, changes no logit (*"},
    {"questions", "asks_for_first", "answers", "failed",
     "every target in evaluation is the first token of its row (*"},
    {"questions", "mostly_none", "answers", "failed",
     "* % of the targets in training, of all cells, are one answer for all"},
    {"questions", "mostly_last", "answers", "failed",
     "* % of the targets in training, of all cells, are the token at its own place, which the "
     "model "
     "is given"},
    {"questions", "asks_padding", "batches", "failed",
     "the target at place * of row * is under padding (*"},
    {"questions", "draws_by_batch", "batches", "failed",
     "evaluation row * depends on the number of rows in a batch (*"},
    {"questions", "test_has_one_more", "batches", "failed",
     "length * has 48 test sequences, and its set-up answered 49 (*"},
    {"questions", "tokens_of_first", "batches", "failed",
     "task 'planted': evaluation batch * has rows of length *, the limit is * (*"},
    {"questions", "units_of_one_row", "batches", "failed",
     "the units of * rows of evaluation are * in one batch and * in batches of one (*"},
};
enum { CRIMES = sizeof(crimes) / sizeof(crimes[0]) };

/* Compiles planted/<source>.c to <crime>.so, with that crime in it unless it is "sound". */
static void build(const char *source, const char *crime)
{
    shell_expect(0,
                 "${CC:-cc} -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror -shared -fPIC "
                 "-fvisibility=hidden -DCRIME_%s -I\"$PEAT_SOURCE/include\" "
                 "\"$PEAT_SOURCE/tests/contract/planted/%s.c\" -o %s.so -lm",
                 crime, source, crime);
}

/* What the last command printed, as JSON. */
static struct value *printed_value(struct arena *a)
{
    struct error err = {0};
    struct value *v = json_parse(a, shell.printed.text, shell.printed.n, "printed", &err);
    ck_assert_msg(v, "%s\n%s", err.text, shell.printed.text);
    return v;
}

static const char *text_of(const struct value *map, const char *key)
{
    const struct value *v = value_get(map, key);
    ck_assert_msg(v && v->text, "no '%s'", key);
    return v->text;
}

LOOP_TEST(each_crime_is_caught_by_its_check, CRIMES)
{
    const struct crime *crime = &crimes[_i];
    struct arena a;
    arena_init(&a, "test", 1 << 12);
    build(crime->source, crime->name);
    int status = shell_run("peat plugins check ./%s.so --only %s --json --timeout %d", crime->name,
                           crime->check, !strcmp(crime->end, "timeout") ? 2 : 100);
    const struct value *checks = value_get(printed_value(&a), "checks");
    ck_assert_int_eq(checks->n, 1);
    const struct value *one = checks->item[0];
    ck_assert_str_eq(text_of(one, "check"), crime->check);
    ck_assert_msg(!strcmp(text_of(one, "end"), crime->end) &&
                      fnmatch(crime->text, text_of(one, "text"), 0) == 0,
                  "%s %s: %s", crime->name, text_of(one, "end"), text_of(one, "text"));
    ck_assert_ptr_nonnull(strstr(text_of(one, "command"), "peat plugins check "));
    ck_assert_int_eq(status, 1);
    arena_release(&a);
}

static const char *const sources[] = {
    "process", "across", "neighbour", "stream",  "kernel",   "kinked", "parameters",
    "combine", "task",   "peeker",    "softmax", "results",  "own",    "memory",
    "far",     "slope",  "cells",     "places",  "axes",     "layers", "settings",
    "keeping", "blocks", "masks",     "join",    "questions"};
enum { SOURCES = sizeof(sources) / sizeof(sources[0]) };

static bool is_tried_before(const struct crime *c)
{
    for (const struct crime *x = crimes; x < c; x++)
        if (!strcmp(x->source, c->source) && !strcmp(x->check, c->check))
            return true;
    return false;
}

/* Each check that catches a crime of the source; of kinked.c, a kink is not a wrong gradient. */
LOOP_TEST(what_differs_from_the_bad_plugins_in_one_crime_passes, SOURCES)
{
    build(sources[_i], "sound");
    for (const struct crime *c = crimes; c < crimes + CRIMES; c++)
        if (!strcmp(c->source, sources[_i]) && !is_tried_before(c))
            shell_expect(0, "peat plugins check ./sound.so --only %s", c->check);
}

/* ---- an operation in its author's own test ---- */

/* planted/opmain.c with a crime of kernel.c or results.c; `says` NULL: nothing is wrong. */
static const struct trial {
    const char *source, *crime, *says;
} trials[] = {
    {"KERNEL", "sound", NULL},
    {"KERNEL", "grad_sign", "crime: operand 0, element 0: gradient -*, central difference *\n"},
    {"KERNEL", "grad_scale", "crime: operand 1, element 0: gradient *, central difference *\n"},
    {"KERNEL", "grad_one_index", "crime: operand 1, element 5: gradient *\n"},
    {"KERNEL", "grad_assigns",
     "crime: operand 0, element 0: backward assigns a gradient instead of adding to it\n"},
    {"KERNEL", "grad_all_units",
     "crime: operand 0, element 0: backward in parts and whole differ\n"},
    {"KERNEL", "writes_all_units",
     "crime: forward writes result 0 outside of the units it is asked for\n"},
    {"KERNEL", "leaves_a_unit", "crime: forward leaves a part of result 0 unwritten\n"},
    {"KERNEL", "writes_beyond", "crime: forward writes around result 0 or its gradient\n"},
    {"KERNEL", "writes_operand", "crime: forward writes to an operand\n"},
    {"KERNEL", "sees_thread", "crime: element 0 of result 0 is * in F32, * in F64\n"},
    {"KERNEL", "grad_in_f32",
     "crime: element 0 of the gradient of operand 1 is * in F32, * in F64\n"},
    {"PATH", "sound", NULL},
    {"RESULTS", "sound", NULL},
    {"RESULTS", "scratch_one_too_many", "crime: forward writes around scratch\n"},
    {"RESULTS", "scratch_carries", "crime: forward in parts and whole differ in result 0 (F64)\n"},
    {"RESULTS", "second_unwritten", "crime: forward leaves a part of result 1 unwritten\n"},
    {"RESULTS", "first_too_long", "crime: forward writes around result 0 or its gradient\n"},
    {"RESULTS", "second_gradient_forgotten", "crime: operand 0, element 0: gradient *\n"},
    {"RESULTS", "gradient_scratch", "crime: operand 0, element 0: *\n"},
};
enum { TRIALS = sizeof(trials) / sizeof(trials[0]) };

LOOP_TEST(an_operation_is_checked_by_one_call, TRIALS)
{
    const struct trial *t = &trials[_i];
    shell_expect(0,
                 "${CC:-cc} -std=c11 -O1 -Wall -Wextra -Wshadow -Wconversion -Werror -D%s "
                 "-DCRIME_%s -I\"$PEAT_SOURCE/include\" "
                 "\"$PEAT_SOURCE/tests/contract/planted/opmain.c\" -o trial -lm",
                 t->source, t->crime);
    shell_expect(t->says ? 1 : 0, "./trial");
    ck_assert_msg(fnmatch(t->says ? t->says : "", shell.printed.text, 0) == 0, "%s: %s", t->crime,
                  shell.printed.text);
}

/* ---- the command ---- */

TEST(mistakes_on_the_command_line_are_told_from_failures)
{
    shell_expect(2, "peat plugins check");
    shell_says(2, "peat: there is no plugin 'rotry'; did you mean 'rotary'?",
               "peat plugins check rotry");
    shell_says(2, "cannot open plugin './none.so': No such file or directory",
               "peat plugins check ./none.so");
    shell_says(2, "there is no check 'gradient'; did you mean 'gradients'?",
               "peat plugins check rotary --only gradient");
    shell_says(2, "check 'batches' is not for a scheme",
               "peat plugins check rotary --only batches");
    shell_says(2, "'base' is not KEY=VALUE", "peat plugins check rotary base");
    shell_expect(2, "peat plugins check rotary --here");
}

TEST(a_file_that_is_no_plugin_fails_the_first_check)
{
    shell_write("text.so", "hello\n");
    shell_says(1, "  failed   abi                     './text.so' is not a shared object\n",
               "peat plugins check ./text.so");
    assert_printed("1 failed\n");
}

TEST(parameters_can_be_given)
{
    shell_expect(0, "peat plugins check learned max_len=40 beyond=clamp --only gradients");
    shell_says(1, "it refuses every cell: learns max_len = 1 positions",
               "peat plugins check learned max_len=1 beyond=refuse --only parameters");
    static const char *const only[] = {"parameters", "causality"};
    for (int i = 0; i < 2; i++)
        shell_says(1, "unknown parameter 'max_lem' of scheme 'learned'; did you mean 'max_len'?",
                   "peat plugins check learned max_lem=3 --only %s", only[i]);
}

TEST(a_failure_says_how_it_is_repeated)
{
    build("kernel", "grad_sign");
    shell_expect(1, "peat plugins check ./grad_sign.so --only gradients");
    char *command = strstr(shell.printed.text, "again: peat ");
    ck_assert_ptr_nonnull(command);
    command += strlen("again: peat ");
    command[strcspn(command, "\n")] = '\0';
    char *copy = strdup(command);
    shell_says(1, ", central difference ", "peat %s", copy);
    free(copy);
}

TEST(nothing_is_left_behind)
{
    build("process", "hangs");
    shell_expect(1, "mkdir tmp && TMPDIR=$PWD/tmp peat plugins check ./hangs.so --only finite "
                    "--timeout 1 && exit 9; [ -z \"$(ls tmp)\" ] && exit 1");
}

TEST(a_constructor_that_loops_ends_every_command)
{
    build("memory", "loops_when_loaded");
    shell_says(1, "loops_when_loaded.load: still running after 1 seconds",
               "peat plugins check ./loops_when_loaded.so --timeout 1");
    shell_says(2, "did not return within 1 s while it was loaded",
               "PEAT_PLUGIN_SECONDS=1 peat plugins info ./loops_when_loaded.so");
    shell_says(0, "did not return within 1 s while it was loaded",
               "PEAT_PLUGIN_SECONDS=1 PEAT_PLUGIN_PATH=. peat plugins list");
}

TEST(every_call_of_a_hook_is_traced_with_its_shapes)
{
    shell_says(0, "rotary.qkv, layer 0: pos [", "peat plugins check rotary --trace");
    assert_printed("] v [");
    assert_printed("] -> [");
    assert_printed("arch: \"encoder\"\n");
    shell_says(0, ".merge, layer -1: ", "peat plugins check combine/sum --trace");
    shell_says(0, "skipped trace: a task has no hooks", "peat plugins check copy --trace");
    shell_says(2, "--trace checks nothing", "peat plugins check rotary --trace --only abi");
}

TEST(a_scheme_may_depend_on_the_length_that_it_declares)
{
    build("slope", "depends_on_length");
    shell_expect(0, "peat plugins check ./depends_on_length.so --only across");
}

TEST(help_says_what_no_check_looks_for)
{
    static const char *const said[] = {"a formula that is wrong", "400 places",
                                       "positions beyond",        "million",
                                       "T_total of a source",     "place in the prompt varies",
                                       "a plugin made by rustc"};
    shell_expect(0, "peat plugins check --help | tr -s ' \\n' ' '");
    for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
        assert_printed(said[i]);
}

TEST(refused_imports_are_listed_in_the_documentation)
{
    shell_expect(
        0, "cd \"$PEAT_SOURCE\" && sed -n '/^} forbidden/,/^};/p' core/plugin/imports.c | "
           "grep -o '\"[a-z0-9_ ]* \"' | tr -s '\" ' '\\n' | grep . >\"$OLDPWD/names\" && "
           "grep -x fopen64 \"$OLDPWD/names\" && while read f; do "
           "grep -q \"\\`$f\\`\" docs/abi.md || { echo $f; bad=1; }; done <\"$OLDPWD/names\"; "
           "[ -z \"$bad\" ]");
}

TEST(all_checks_are_listed)
{
    shell_expect(0, "peat plugins check --list");
    for (size_t i = 0; i < CRIMES; i++)
        ck_assert_msg(shell_printed(crimes[i].check), "%s", crimes[i].check);
}

int main(void)
{
    shell_keep_signals();
    return run_tests((struct tests){"check", shell_open, shell_close, .seconds = 250,
                                    .needs = "PEAT_SOURCE PEAT_BUILD PEAT cc"});
}
