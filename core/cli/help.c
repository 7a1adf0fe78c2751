/* SPDX-License-Identifier: MIT */
/* help.c: help pages. */

#include "base/base.h"
#include "cli/command.h"

static void print_option(const struct cli_option *o, FILE *out)
{
    enum { DOC_COLUMN = 26 };
    char left[64];
    snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    shown_print(out, "%-*s %s\n", DOC_COLUMN, left, o->doc);
}

static void print_indented(const char *text, FILE *out)
{
    for (const char *end; *text; text = end + (*end == '\n')) {
        end = text + strcspn(text, "\n");
        fprintf(out, "  %.*s\n", (int)(end - text), text);
    }
}

void cli_print_help(const struct cli_command *c, FILE *out)
{
    const struct cli_option *o;
    if (c->verb) {
        fprintf(out, "usage: %s VERB [operands] [options]\n\n%s\n\nverbs:\n", c->name, c->about);
        for (const struct cli_command *const *v = c->verb; *v; v++)
            shown_print(out, "  %-10s %s\n", cli_verb(*v), (*v)->summary);
        fprintf(out, "\n'%s VERB --help' explains a verb\n", c->name);
    } else {
        fprintf(out, "usage: %s%s%s [options]\n\n%s\n\noptions:\n", c->name, c->operands ? " " : "",
                c->operands ? c->operands : "", c->about);
        for (int i = 0; (o = cli_option(c, i)); i++)
            print_option(o, out);
    }
    fprintf(out, "\nexample:\n");
    print_indented(c->example, out);
}
