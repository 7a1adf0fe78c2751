/* SPDX-License-Identifier: MIT */
/*
 * task.h: a task makes batches of token ids and turns sums over an evaluation into metrics.
 *
 * A task does not know the model or the scheme. Its batches depend only on the seed, the step and
 * the row, so every scheme trained with one seed sees the same data in the same order.
 */
#ifndef PEAT_TASK_H
#define PEAT_TASK_H

#include <peat/types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum peat_arch { PEAT_DECODER = 0, PEAT_ENCODER = 1, PEAT_SEQ2SEQ = 2 } peat_arch;

/* model.input: each place of the input is a token or a vector of numbers. model.head: the model
 * predicts a token at every place, a class for every row, or both. */
typedef enum peat_input { PEAT_INPUT_TOKENS = 0, PEAT_INPUT_PATCHES = 1 } peat_input;
typedef enum peat_head { PEAT_HEAD_TOKENS = 0, PEAT_HEAD_CLASS = 1, PEAT_HEAD_BOTH = 2 } peat_head;

#define PEAT_MAX_STREAMS  4
#define PEAT_FIRST_TOKENS 16

/* A stream that a task adds at the input, beside tokens, positions and segments. The model looks
 * its ids up in a table, or brings its numbers to the stream's width by a matrix and a shift; the
 * combination merges the stream under its name. */
typedef struct peat_stream {
    const char *name; /* 1 to 32 of a-z, 0-9 and _; not token, segment, or position...        */
    int64_t ids;      /* > 0: each place has an id in [0, ids)                                */
    int64_t numbers;  /* where ids is 0: numbers that each place has, from 1                  */
} peat_stream;

/* The set-up of a task: the host fills the fields that are `asked`, the task those `answered`. */
typedef struct peat_task_plan {
    uint32_t size;
    /* asked */
    peat_arch arch;
    int64_t seq_len;       /* train.seq_len: tokens of the longest training sequence          */
    int64_t n_lengths;     /* eval.lengths as given; 0: the task chooses                     */
    const int64_t *length; /* [n_lengths] in the task's own unit (tokens, symbols) */
    int64_t eval_tokens;   /* eval.tokens: targets to score per length; 0 means everything   */
    uint64_t seed;         /* of the cell: for training data only, never for evaluation data */
    /* answered */
    int64_t vocab;
    int64_t n_segment;       /* 0: no segment stream                                            */
    int64_t n_eval;          /* lengths evaluated, at most PEAT_MAX_LENGTHS                     */
    int64_t eval[32];        /* in the task's unit                                              */
    int64_t eval_T[32];      /* tokens of a sequence of that length                             */
    const char *length_unit; /* "tokens", "symbols"                                         */
    /* answered, to estimate the cost of evaluation; 0: not known */
    int64_t eval_sequences[32]; /* sequences evaluated at that length                           */
    int64_t eval_prompt[32];    /* tokens before a generated answer, at most                    */
    int64_t eval_answer[32];    /* tokens generated for each sequence, at most; 0: none         */
    /* asked */
    peat_head head; /* CLASS: batches have a label for each row and no target        */
    /* answered */
    int64_t n_class; /* with CLASS: at least 2; a task that leaves it 0 is refused     */
    /* asked */
    peat_input input; /* PATCHES: batches have vectors of numbers in place of tokens    */
    /* answered */
    int64_t patch_width; /* with PATCHES: numbers of a patch; a task that leaves it 0 is refused */
    int64_t n_axes;      /* axes of the positions that batches have, at most PEAT_MAX_AXES; 0:
                            places are counted                                                  */
    int64_t source_T;    /* SEQ2SEQ: tokens of the longest source; a task that leaves it 0 is
                            refused. The lengths T are then those of targets                    */
    bool tells_both;     /* with head BOTH: batches have targets and a label for each row, and
                            n_class is answered; a task that leaves it false is refused         */
    int64_t n_stream;    /* streams of the task's own, at most PEAT_MAX_STREAMS; 0 with SEQ2SEQ */
    peat_stream stream[PEAT_MAX_STREAMS];
    /* answered, for `peat plan`, which shows people whether the task read the data they mean */
    int64_t n_first; /* first tokens of the training data, at most PEAT_FIRST_TOKENS; 0: none */
    int32_t first[PEAT_FIRST_TOKENS];
    /* asked */
    double test; /* eval.test: share of the held-out data that is the test part, below 1; 0: no test
                  * part. A task that generates its data makes both parts equally large, whatever
                  * the share. eval_tokens is for each part; eval_T, eval_prompt, eval_answer and
                  * source_T are the larger value of the two parts */
    /* answered, where test is asked for */
    int64_t test_sequences[32]; /* sequences of the test part at that length; a task that leaves
                                   one 0 is refused                                             */
} peat_task_plan;

#define PEAT_MAX_LENGTHS 32

/*
 * One batch, filled in place. The host gives arrays of capacity B * T, cleared to 0 with target
 * -1; the task lowers B and T to what it filled; rows are laid out with the T it set.
 *
 *   token   [B,T] input ids.
 *   target  [B,T] the id to be predicted at this place; -1 where there is no loss.
 *   segment, document [B,T]; pad, special [B,T] 0/1. Read only when the has_ flag is set.
 *   sequence [B] stable ids.
 *   units   a divisor for metrics: bytes that the targets represent.
 *   prompt  > 0: score by greedy generation. Tokens [0, prompt) are given to the model, the next
 *           `answer` ones are generated and compared with target at prompt-1 ... prompt+answer-2.
 *   label   [B] where the plan asks for classes, or both: the class of each row, from 0. The model
 *           adds a class token, not the task; some place of each row must not be padding.
 *   patch   [B,T,patch_width] where the plan asks for patches: numbers of about mean 0 and
 *           deviation 1. The batch then has no tokens.
 *   pos     [n_axes,B,T] where the plan has axes: position of each place on each axis, such as row
 *           and column of an image. Schemes of one axis see the number of the place instead.
 *   source, source_pad, source_special [B,S] where the architecture is SEQ2SEQ: the input of the
 *           encoder. On entry S is the capacity, the plan's source_T; the task lowers it to the S
 *           that it filled. The other arrays are the decoder's, as for a causal model. Some place
 *           of each source must not be padding.
 *   stream_id[i] [B,T], stream_number[i] [B,T,numbers] for each stream of the plan, in its order:
 *           ids, or numbers of about mean 0 and deviation 1, also for places whose token is
 *           generated. The model's class token has id 0, or zeros.
 */
typedef struct peat_batch {
    uint32_t size;
    int64_t B, T;
    int32_t *token, *target, *segment, *document;
    uint8_t *pad, *special;
    int64_t *sequence;
    bool has_segment, has_document, has_pad, has_special;
    int64_t units;
    int64_t prompt, answer;
    int32_t *label;
    int64_t patch_width, n_axes; /* as in the plan; 0: NULL */
    float *patch;
    double *pos;
    int64_t S; /* 0: `source` and its flags are NULL */
    int32_t *source;
    uint8_t *source_pad, *source_special;
    int64_t n_stream; /* as in the plan */
    int32_t *stream_id[PEAT_MAX_STREAMS];
    float *stream_number[PEAT_MAX_STREAMS];
    int64_t stream_numbers[PEAT_MAX_STREAMS]; /* numbers of each place, as in the plan */
} peat_batch;

/* Sums over one evaluation at one length. */
typedef struct peat_sums {
    uint32_t size;
    double nll;      /* nats, over targets                                   */
    int64_t targets; /* places with a target; with head CLASS, rows          */
    int64_t correct; /* targets with the highest logit, given true inputs    */
    int64_t units;
    int64_t sequences; /* generated sequences; with head CLASS, rows           */
    int64_t matches;   /* whole generated answers equal to the truth           */
    int64_t generated; /* tokens generated                                     */
    int64_t generated_correct;
    /* With head BOTH: rows whose class was predicted, beside the targets above; otherwise 0. They
     * also count as sequences and generated, and the right ones as matches and generated_correct.
     */
    int64_t class_rows;
    double class_nll; /* nats, over these rows */
} peat_sums;

/* One metric; `goal_max`: higher is better. The first metric of a task is its main metric. */
typedef struct peat_metric {
    const char *name; /* "bpb", "exact_match" */
    bool goal_max;
    const char *doc;
    double (*value)(const peat_sums *s);
} peat_metric;

/* Sample data for a PEAT_PATH parameter, for checks, which have no data of their own: the content
 * is byte [n], repeated `times` times. */
typedef struct peat_sample {
    const char *key; /* the parameter's key */
    const void *byte;
    size_t n;
    int32_t times;
} peat_sample;

/*
 * A status other than PEAT_OK ends the cell; setup can give a reason (peat_refuse).
 *
 *   setup  [setup] read data, check the plan, answer it; *self is kept with peat_alloc.
 *   train  [any]   fill one training batch. Draw with peat_below from `stream` only: it is keyed
 *                  by seed and step. May run on a thread other than setup's.
 *   evaluate [any] fill evaluation batch `index` (0, 1, ...) of length number `which`; sets
 *                  batch->B = 0 when there are no more. The same for every cell and seed.
 *   test   [any]   as evaluate, of the test part, which has no row of the other parts: rows in the
 *                  data's own order, plan->test_sequences[which] in all. NULL: the task has no
 *                  test part, and eval.test is refused.
 *   token_text [any] writes token `id` as a reader would see it, UTF-8 ended by 0, into text of
 *                  `room` bytes. Returns its bytes without the 0; 0: the token has no text. NULL:
 *                  tokens are shown as numbers.
 */
typedef struct peat_task {
    uint32_t size;
    uint32_t needs;            /* 0: no bit of peat_need is for tasks */
    const peat_metric *metric; /* ended by a NULL name */
    peat_status (*setup)(peat_setup *s, const void *config, peat_task_plan *plan, void **self);
    peat_status (*train)(const peat_host *h, const void *config, const void *self, uint64_t stream,
                         peat_batch *batch);
    peat_status (*evaluate)(const peat_host *h, const void *config, const void *self, int64_t which,
                            int64_t index, peat_batch *batch);
    const peat_sample *sample; /* ended by a NULL key; NULL: any text is data */
    int64_t (*token_text)(const void *config, const void *self, int32_t id, char *text,
                          int64_t room);
    peat_status (*test)(const peat_host *h, const void *config, const void *self, int64_t which,
                        int64_t index, peat_batch *batch);
} peat_task;

#ifdef __cplusplus
}
#endif
#endif
