# SPDX-License-Identifier: MIT
"""A diagnosis as a page of text."""
from __future__ import annotations

import math
import textwrap


def number(form, x):
    """form as of format(); % gives a share in %. "-" for a number that is missing."""
    kind = form.endswith("%")
    width = form.lstrip("+").partition(".")[0].rstrip("%fg")
    if x is None or isinstance(x, float) and not math.isfinite(x):
        return "-".rjust(int(width))
    return format(100 * x, form.replace("%", "f")) if kind else format(x, form)


def row(v, *fields):
    """Numbers of v: "path form", one behind the other."""
    out = ""
    for field in fields:
        path, form = field.rsplit(" ", 1)
        x = v
        for word in path.split("/"):
            x = (x or {}).get(word)
        out += number(form, x)
    return out


def logits(v, width):
    yield "% of the terms' variance, query.key"
    yield "layer   head   tok.tok   tok.pos   pos.tok   pos.pos    others    bias"
    terms = ("token.token", "token.position", "position.token", "position.position")
    for layer in v["layers"]:
        heads = layer["heads"] if layer["layer"] == 0 else []
        for name, share in [(f"{h['head']:7}", h["share"]) for h in heads] + [("   mean", layer["share"])]:
            known = {key: max(x or 0.0, 0.0) for key, x in share.items()}
            rest = sum(known.values()) - sum(known.get(key, 0.0) for key in (*terms, "bias"))
            yield (f"{layer['layer']:5}{name}" + "".join(number("10.1%", share.get(key)) for key in terms)
                   + number("10.1%", rest if rest >= 1e-5 else 0.0) + number("8.1%", share.get("bias")))
    if len(v["layers"]) > 1:
        yield "~Layer 0 is exact; deeper layers are attributed with norms, attention weights and activations held fixed."


def sizes(v, width):
    yield "                     token  position     ratio    cosine  |cosine|"
    for name, of in (("before training", v.get("start")), ("now            ", v)):
        if of:
            yield f"{name} " + row(of, "token 10.3g", "position 10.3g", "ratio 10.3g", "cosine 10.3f", "cosine_size 10.3f")


def subspaces(v, width):
    yield "            rows   rank  effective"
    for name in ("token", "position", "sum"):
        yield f"{name:9}" + row(v[name], "rows 7.0f", "rank 7.0f", "effective 11.1f")
    yield (f"angles in degrees: smallest{row(v, 'smallest 7.2f')}, mean{row(v, 'mean 7.2f')}; random: mean"
           f"{row(v, 'random/mean 7.2f')}")


def support(v, width):
    yield "loss change (nats) without    dimensions     token  position"
    for of in v["blocks"]:
        yield f"{of['begin']:32}-{of['end'] - 1:<6}" + row(of, "token +9.4f", "position +10.4f")


def collisions(v, width):
    yield "decoded right, %    noise     token  position      both"
    for of in v["decoded"]:
        yield "  " + row(of, "noise 21.1f", "token 10.1%", "position 10.1%", "both 10.1%")
    for pair in v["pairs"][:3]:
        yield f"nearest: {_token(pair, 'a')} and {_token(pair, 'b')}, {row(pair, 'distance .3g')} of the mean distance"


def _token(pair, which):
    text = pair[f"text_{which}"]
    return (f"token {pair[f'token_{which}']}" if text is None else f"'{text}'") + f" at {pair[f'position_{which}']}"


def probes(v, width):
    yield "after blocks   position R2   position %   token %"
    for of in v["layers"]:
        yield row(of, "layer 12.0f", "position_r2 14.3f", "position_accuracy 13.1%", "token_accuracy 10.1%")
    yield "      chance              " + row(v["chance"], "position_accuracy 13.1%", "token_accuracy 10.1%")


def order(v, width):
    for of in v["layers"]:
        yield (f"after blocks {of['layer']}" + number("14.3g" if of["layer"] < 10 else "13.3g", of["change"])
               + ("   (must be zero)" if of["must_be_zero"] else ""))


def attention(v, width):
    left, each = 61, 7
    fit = max(0, min((width - left - 2) // each, len(v["distances"])))
    yield ("~self, first: % of the weight on the query itself and on the first key; by dist, bias, turn: % of the logits' "
           "variance; then % of the weight by distance")
    yield "layer head entropy %max  dist  self first  by dist  bias   turn" + "".join(
        (f"{low}" if low == high else f"{low}-{high}").rjust(each) for low, high in v["distances"][:fit])
    for layer in v["layers"]:
        for h in layer["heads"]:
            yield f"{layer['layer']:5}" + row(
                h, "head 5.0f", "entropy 8.2f", "entropy_share 5.0%", "mean_distance 6.1f", "self 6.0%", "first 6.0%",
                "distance_share 9.0%", "bias_share 6.0%", "rotation_share 7.0%") + "".join(
                    number("7.1%", x) for x in h["by_distance"][:fit])
    if fit:
        yield "uniform attention".ljust(left) + "".join(number("7.1%", x) for x in v["uniform"][:fit])


#: Heading, how to read it, and its lines.
SECTIONS = {
    "logits": ("Terms of the attention logits", "how much a head reacts to content, to position, and to both", logits),
    "sizes": ("Sizes of tokens and positions",
              "which of the two is larger at the input, and whether they point the same way", sizes),
    "subspaces": ("Subspaces of tokens and positions",
                  "at 90 degrees a sum separates them as well as concatenation does", subspaces),
    "support": ("Which dimensions carry what",
                "an index of 1 means that the model has split its dimensions as concatenation does", support),
    "collisions": ("Collisions", "whether a sum of token and position can be mistaken for another token elsewhere",
                   collisions),
    "probes": ("Linear probes", "whether a linear map finds position and token in the stream, block by block", probes),
    "order": ("Order sensitivity",
              "how far the last output moves when the other tokens change places; 0: their order does not matter", order),
    "attention": ("Attention by distance", "where the heads look, and how much of their logits distance alone explains",
                  attention),
}


def _indented(text, width):
    """The text as lines of at most `width` columns, indented; "~" before it: break it at spaces."""
    return ["  " + line for line in (textwrap.wrap(text[1:], width - 2) if text[:1] == "~" else [text])]


def page(v: dict, width: int = 100) -> str:
    """The object of diagnose.json as lines of at most `width` columns."""
    def plural(n, word):
        return f"{n} {word}{'s' * (n != 1)}"
    lines = [f"{v['label']}: {v['scheme']}, {v['combine']}; {'decoder' if v['causal'] else 'encoder'} of "
             f"{plural(v['layers'], 'layer')}, {plural(v['heads'], 'head')}, width {v['width']}",
             f"step {v['step']}; {v['windows']} windows of {v['length']} tokens, loss {number('.4f', v['loss'])} nats",
             *(f"note: {note}" for note in v["notes"])]
    for name, (title, meaning, made) in SECTIONS.items():
        own = v.get(name)
        if own is None:
            continue
        lines += ["", f"{title} ({name})", *_indented("~" + meaning, width)]
        if "skipped" in own:
            lines.append(f"  none: {own['skipped']}")
            continue
        for text in ["~" + own["summary"], *made(own, width), *("~" + own[k] for k in ("left_out", "stopped") if own.get(k))]:
            lines += _indented(text, width)
    return "\n".join(lines) + "\n"
