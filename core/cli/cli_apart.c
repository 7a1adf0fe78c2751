/* SPDX-License-Identifier: MIT */
/* cli_apart.c: a command's body in a child. */
#include "cli/cli_apart.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "process/apart.h"

struct command_body {
    int (*run)(void *ctx, struct trail *trail);
    void *ctx;
};

static peat_status run_body(void *ctx, struct trail *trail, struct strbuf *out, struct error *err)
{
    const struct command_body *body = ctx;
    (void)err;
    strbuf_addf(out, "%d", cli_finish(body->run(body->ctx, trail)));
    return PEAT_OK;
}

int cli_apart(int (*body)(void *ctx, struct trail *trail), void *ctx)
{
    struct command_body job = {body, ctx};
    struct error err = {0};
    struct strbuf code;
    strbuf_init(&code);
    peat_status status = apart_run(run_body, &job, APART_SECONDS, true, &code, NULL, &err);
    int end = status == PEAT_OK ? atoi(code.text) : cli_refuse(&err);
    strbuf_release(&code);
    return end;
}
