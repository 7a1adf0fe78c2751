/* SPDX-License-Identifier: MIT */
/* help.c: help pages. */

#include "cli/command.h"

extern const char help_texts[]; /* help.txt */

static void print_option(const struct cli_option *o, FILE *out)
{
    enum { DOC_COLUMN = 26 };
    char left[64];
    snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", o->letter ? '-' : ' ',
             o->letter ? o->letter : ' ', o->letter ? ',' : ' ', o->name, o->argument ? " " : "",
             o->argument ? o->argument : "");
    shown_print(out, "%-*s %s\n", DOC_COLUMN, left, o->doc);
}

/* Prints the command's paragraph in help.txt, or its examples. */
static void print_text(const struct cli_command *c, bool examples, FILE *out)
{
    char head[64];
    snprintf(head, sizeof(head), "\n# %s\n", c->name);
    const char *line = strstr(help_texts, head);
    BUG_UNLESS(line);
    line += strlen(head);
    for (size_t n; *line && *line != '#'; line += n + (line[n] == '\n')) {
        n = strcspn(line, "\n");
        if (n && (*line == '$') == examples) /* "$ " becomes "  " */
            fprintf(out, "%s%.*s\n", examples ? " " : "", (int)n - examples, line + examples);
    }
}

static void print_verbs(const struct cli_command *group, FILE *out)
{
    fprintf(out, "\nverbs:\n");
    for (const struct cli_command *const *v = group->verb; *v; v++)
        shown_print(out, "  %-10s %s\n", cli_verb(*v), (*v)->summary);
    fprintf(out, "\n'%s VERB --help' explains a verb\n", group->name);
}

void cli_print_help(const struct cli_command *c, FILE *out)
{
    const struct cli_option *o;
    const char *operands = c->verb ? "VERB [operands]" : c->operands;
    fprintf(out, "usage: %s%s%s [options]\n\n", c->name, operands ? " " : "",
            operands ? operands : "");
    print_text(c, false, out);
    if (c->verb)
        print_verbs(c, out);
    fprintf(out, "\noptions:\n");
    for (int i = 0; (o = cli_option(c, i)); i++)
        print_option(o, out);
    fprintf(out, "\nexample:\n");
    print_text(c, true, out);
}
