# SPDX-License-Identifier: MIT
"""Opens a report in headless Chromium and prints what is wrong with it, one line each.

    open_report.py CHROMIUM REPORT.html [--figures N] [--shots DIR]

At 1280, 768 and 390 pixels, light and dark: no message on the console, no request but the page itself,
nothing wider than the page, at 390 nothing that scrolls sideways, every drawing and table inside its box, no text
too small or without contrast, N drawings at least.
Then as a reader uses it: points say their row and value where the mouse is, a click on a heading
sorts, a switch hides a row everywhere, paper shows no switches, and without scripts nothing is
missing. The browser is controlled by its debugging protocol over a
pipe, so only Python's standard library is needed."""
import argparse
import base64
import json
import os
import pathlib
import subprocess
import sys
import tempfile

OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
           "--disable-background-networking", "--disable-component-update", "--disable-sync",
           "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
           "--remote-debugging-pipe"]

# What a person would call broken, as a list of texts.
MEASURE = r"""
(() => {
  const wrong = [], root = document.documentElement;
  const box = e => e.getBoundingClientRect();
  const name = e => e.tagName.toLowerCase() + (e.id ? '#' + e.id : '') + ' "' +
      (e.querySelector('title,th,caption')?.textContent || e.textContent).trim().slice(0, 40) + '"';
  if (!document.querySelector('main #verdict')) wrong.push('this is no report');
  for (const d of document.querySelectorAll('details')) d.open = true;
  const shown = selector => [...document.querySelectorAll(selector)].filter(e => getComputedStyle(e.parentElement).display !== 'none');
  if (root.clientWidth < 400)
    for (const e of document.querySelectorAll('main *'))
      if (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible')
        wrong.push(`${name(e)} needs sideways scrolling`);
  for (const e of shown('svg, table')) {
    const inside = e.closest('.scroll, .drawing');
    const b = box(e);
    if (b.width < 1 || b.height < 1) wrong.push(`${name(e)} has no size`);
    if (!inside) { wrong.push(`${name(e)} is in nothing that scrolls`); continue; }
    const i = box(inside), end = i.left + inside.clientLeft + inside.scrollWidth - inside.scrollLeft;
    if (b.left < i.left - 1 || b.right > end + 1) wrong.push(`${name(e)} is clipped`);
    if (i.right > root.clientWidth + 1 || i.left < -1) wrong.push(`the box of ${name(e)} is cut off`);
  }
  for (const e of shown('svg')) {
    const outer = box(e), all = [...e.querySelectorAll('text')].filter(t => t.textContent.trim());
    if (!all.length) wrong.push(`${name(e)} has no text`);
    for (const t of all) {
      const b = box(t);
      if (b.left < outer.left - 1 || b.right > outer.right + 1 || b.top < outer.top - 1 ||
          b.bottom > outer.bottom + 1)
        wrong.push(`"${t.textContent}" is cut off in ${name(e)}`);
      if (b.height < 7) wrong.push(`"${t.textContent}" is ${b.height.toFixed(1)} high in ${name(e)}`);
    }
  }
  for (const e of document.querySelectorAll('h1, h2, h3, p, li, dd, dt, summary, figcaption, th, td')) {
    const b = box(e), inside = e.closest('.scroll, .drawing, pre');
    if (!inside && b.width && (b.right > root.clientWidth + 1 || b.left < -1))
      wrong.push(`${name(e)} leaves the page`);
    if (parseFloat(getComputedStyle(e).fontSize) < 11) wrong.push(`${name(e)} is too small`);
  }
  const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(x => x / 255)
      .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4)
      .reduce((sum, x, k) => sum + x * [.2126, .7152, .0722][k], 0);
  const paper = e => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length === 3 || c[3] === 1) return c;
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  for (const e of document.querySelectorAll('h1, h2, h3, p, li, dd, dt, b, a, summary, th, td, sup, figcaption, pre, svg text')) {
    const style = getComputedStyle(e);
    const ink = rgb(e.namespaceURI.endsWith('svg') ? style.fill : style.color), on = paper(e);
    const a = light(ink), b = light(on), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const key = e.tagName + ink + on;
    // Almost white and almost black stand on the cells of a heat map, not on the paper.
    const onCell = e.tagName === 'text' && ['255,255,254', '0,0,1'].includes(String(ink));
    if (ratio < 4.5 && !onCell && !seen.has(key) && e.textContent.trim()) {
      seen.add(key);
      wrong.push(`${name(e)} has a contrast of ${ratio.toFixed(1)} (${ink} on ${on})`);
    }
  }
  return {wrong, figures: shown('figure svg').length,
          width: root.scrollWidth, height: root.scrollHeight, sections: [...document.querySelectorAll('section')].map(e => e.id)};
})()
"""


# The middle of the first thing that a selector names, after it was scrolled into sight.
MIDDLE = """(() => {
  const e = [...document.querySelectorAll(%s)].at(%d);
  e.scrollIntoView({block: 'center'});
  const b = e.getBoundingClientRect();
  return [b.left + b.width / 2, b.top + b.height / 2];
})()"""

# What the mouse would be told at a place.
SAID = """(() => {
  const at = document.elementFromPoint(%f, %f);
  for (let e = at; e && e.tagName !== 'svg'; e = e.parentElement) {
    const title = e.querySelector(':scope > title');
    if (title) return title.textContent;
  }
  return '';
})()"""

COLUMN = """[...document.querySelectorAll('#table table')[0].tBodies[0].rows]
    .map(row => parseFloat([...row.cells].find(c => c.className === 'number').textContent))"""

SHOWN = """[...document.querySelectorAll('[data-row]')]
    .filter(e => e.dataset.row === %s && e.style.display !== 'none').length"""


class Browser:
    """One page; messages that arrive between answers are kept in `events`."""

    def __init__(self, chromium, profile):
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        def place():
            # dup2 to 3 and 4 by way of higher numbers, lest one overwrites the other.
            a, b = os.dup(to_read), os.dup(back_write)
            a, b = (os.dup(a), os.dup(b)) if {a, b} & {3, 4} else (a, b)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([chromium, *OPTIONS, f"--user-data-dir={profile}"],
                                        preexec_fn=place, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        self.rest, self.events, self.number, self.session = b"", [], 0, None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 16)
            if not part:
                raise RuntimeError("the browser has gone")
            self.rest += part
        one, self.rest = self.rest.split(b"\0", 1)
        return json.loads(one)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.to, json.dumps(request).encode() + b"\0")
        while (answer := self.message()).get("id") != self.number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.message())

    def value(self, expression):
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"])
        return found["result"].get("value")

    def click(self, selector, which=0):
        x, y = self.value(MIDDLE % (json.dumps(selector), which))
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def close(self):
        self.session = None
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(timeout=60)


def complaints(events, url):
    for e in events:
        parameters = e.get("params", {})
        if e.get("method") == "Network.requestWillBeSent":
            asked = parameters["request"]["url"]
            if asked != url and not asked.startswith("data:"):
                yield f"asks for {asked}"
        elif e.get("method") == "Runtime.exceptionThrown":
            yield f"exception: {parameters['exceptionDetails'].get('text')}"
        elif e.get("method") == "Runtime.consoleAPICalled":
            yield f"console: {parameters['args']}"
        elif e.get("method") == "Log.entryAdded":
            yield f"log: {parameters['entry']['text']}"


def look(browser, url, width, scheme, shots):
    """What is wrong at this width and in these colours; how many figures there are."""
    browser.call("Emulation.setDeviceMetricsOverride", width=width, height=900,
                 deviceScaleFactor=1, mobile=False)
    browser.call("Emulation.setEmulatedMedia",
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.events.clear()
    browser.call("Page.navigate", url=url)
    browser.wait("Page.loadEventFired")
    if shots:
        for kind, whole in (("first", False), ("all", True)):
            size = browser.call("Page.getLayoutMetrics")["cssContentSize"]
            clip = {"x": 0, "y": 0, "width": width, "height": size["height"] if whole else 900,
                    "scale": 1}
            shot = browser.call("Page.captureScreenshot", format="png", clip=clip,
                                captureBeyondViewport=True)
            path = pathlib.Path(shots) / f"{kind}-{width}-{scheme}.png"
            path.write_bytes(base64.b64decode(shot["data"]))
    found = browser.value(MEASURE)
    where = f"{width} px, {scheme}"
    wrong = [f"{where}: {text}" for text in (*complaints(browser.events, url), *found["wrong"])]
    if found["width"] > width:
        wrong.append(f"{where}: the page scrolls sideways, it is {found['width']} wide")
    return wrong, found


def hover(browser):
    points = browser.value("document.querySelectorAll('.wide [data-row]:has(title) use').length")
    if not points:
        yield "no point has a row"
    for i in range(0, points, max(1, points // 40)):
        x, y = browser.value(MIDDLE % (json.dumps(".wide [data-row]:has(title) use"), i))
        said = browser.value(SAID % (x, y))
        if ": " not in said or "data index" in said:
            yield f"point {i} says '{said}'"


def sort(browser):
    before = browser.value(COLUMN)
    heading = "#table table:first-of-type th.number[aria-sort]"
    numbers = sorted(x for x in before if x is not None)
    none = [None] * (len(before) - len(numbers))
    for what, wanted in (("up", numbers + none), ("down", numbers[::-1] + none), ("back", before)):
        browser.click(heading)
        if browser.value(COLUMN) != wanted:
            yield f"sorted {what}: {browser.value(COLUMN)} instead of {wanted}"


def switch(browser):
    browser.value("document.querySelector('.switches').open = true")
    name = browser.value("document.querySelector('.switches label').textContent.trim()")
    shown = SHOWN % json.dumps(name)
    all_of_it = browser.value(shown)
    in_table = browser.value("[...document.querySelectorAll('#table tr')]"
                             f".some(e => e.dataset.row === {json.dumps(name)})")
    if all_of_it < 3 or not in_table:
        yield f"the row '{name}' is in {all_of_it} places, {in_table or 'not '} in the table"
    browser.click(".switches input")
    if browser.value(shown):
        yield f"the row '{name}' is still shown after it was switched off"
    browser.click(".switches input")
    if browser.value(shown) != all_of_it:
        yield f"the row '{name}' has not come back whole"


def paper(browser):
    browser.call("Emulation.setEmulatedMedia", media="print", features=[])
    if browser.value("getComputedStyle(document.querySelector('.switches')).display") != "none":
        yield "paper shows switches"
    if len(browser.call("Page.printToPDF")["data"]) < 10000:
        yield "next to nothing is printed"
    browser.call("Emulation.setEmulatedMedia", media="screen", features=[])


def without_scripts(browser, url):
    count = "document.querySelectorAll('section, figure, table, tr').length"
    with_scripts = browser.value(count)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.events.clear()
    browser.call("Page.navigate", url=url)
    browser.wait("Page.loadEventFired")
    if browser.value("document.querySelectorAll('[aria-sort]').length"):
        yield "scripts run although they are forbidden"
    if browser.value(count) != with_scripts:
        yield f"{browser.value(count)} parts without scripts, {with_scripts} with them"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("chromium")
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--figures", type=int, default=0)
    parser.add_argument("--shots", type=pathlib.Path)
    asked = parser.parse_args()
    wrong = []
    if asked.shots:
        asked.shots.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(asked.chromium, profile)
        for domain in ("Page", "Network", "Runtime", "Log"):
            browser.call(f"{domain}.enable")
        for width in (390, 768, 1280):
            for scheme in ("light", "dark"):
                more, found = look(browser, asked.report.resolve().as_uri(), width, scheme,
                                   asked.shots)
                wrong += more
                if found["figures"] < asked.figures:
                    wrong.append(f"{found['figures']} figures instead of {asked.figures}")
        for act in (hover, sort, switch, paper):
            wrong += act(browser)
        wrong += without_scripts(browser, asked.report.resolve().as_uri())
        browser.close()
    print("\n".join(wrong) if wrong else f"nothing is wrong: {found['figures']} figures, sections "
          + " ".join(found["sections"]))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
