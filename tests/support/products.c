/* SPDX-License-Identifier: MIT */
/* products.c: finds and starts providers. */
#include "support/products.h"

#include "support/support.h"
#include "tensor/gemm.h"

struct team team_by(const char *provider, int threads)
{
    struct error err = {0};
    struct team team = {threads, NULL};
    use_built_plugins();
    parallel_start();
    ck_assert_msg(gemm_start(&team, provider, &err) == PEAT_OK, "%s", err.text);
    return team;
}

const struct team *lone_team(void)
{
    static struct team team;
    if (team.gemm == NULL)
        team = team_by("openblas", 1);
    return &team;
}

struct team team_of(int threads)
{
    struct team team = *lone_team();
    team.threads = threads;
    return team;
}
