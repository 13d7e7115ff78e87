"""Comparison of a page's measured roof with C loops: `bench_browser.py [runs]`.

Needs Chromium, gcc, a quiet machine and `PYTHONPATH=.:kit:site:tests/support`. Each run of the page
is followed by one in C. The loop of multiply-adds is compiled twice: for the processor's widest
registers, and for registers of four numbers, the widest that WebAssembly has.
"""

import statistics
import sys
import tempfile
from pathlib import Path

import roof_page
import site_browser
from c_roofs import compiled, printed

import rooflib as rl

FIGURES = {"peak": "FLOP/s", "read": "B/s", "update": "B/s", "copy": "B/s", "nearest": "B/s"}
IN_C = {"peak": "peak fp32", "read": "read", "update": "update", "copy": "scale"}
VALUES = "all => Object.fromEntries(all.map((one) => [one.dataset.name, Number(one.value)]))"


def spread(values: list[float]) -> str:
    return rl.percent((max(values) - min(values)) / statistics.median(values))


def main(runs: int) -> None:
    chromium = site_browser.chromium()
    if chromium is None:
        sys.exit(site_browser.MISSING)
    page: dict[str, list[float]] = {key: [] for key in FIGURES}
    c: dict[str, list[float]] = {key: [] for key in IN_C.values()}
    narrow: list[float] = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wide, four = compiled(folder), compiled(folder, 16)
        with roof_page.served(folder) as server, site_browser.started(chromium) as browser:
            for _ in range(runs):
                context = browser.new_context(viewport=site_browser.DESK)
                tab = roof_page.opened(context, f"{server.origin}/index.html")
                figure = roof_page.measured(tab)
                print(
                    tab.locator("[role=status][data-part=told]").text_content(),
                    figure.locator(".live-says").text_content(),
                )
                if figure.locator(".live-samples").count():
                    print(figure.locator(".live-samples").inner_text())
                    found = tab.locator("figure.live data").evaluate_all(VALUES)
                    for key in FIGURES:
                        page[key].append(found[key])
                context.close()
                for key, value in printed(wide, 2).items():
                    if key in c:
                        c[key].append(value)
                narrow.append(printed(four, 2)["peak fp32"])
    if not page["peak"]:
        sys.exit("the page refused each time")
    print(f"\n{len(page['peak'])} of {runs} runs of the page gave figures")
    for key, unit in FIGURES.items():
        middle = statistics.median(page[key])
        line = f"{key}: page {rl.text(middle, unit)} ({spread(page[key])})"
        if key in IN_C:
            there = c[IN_C[key]]
            line += f", C {rl.text(statistics.median(there), unit)} ({spread(there)})"
            line += f", page ÷ C {rl.text(middle / statistics.median(there), digits=2)}"
        if key == "peak":
            line += f", C with four numbers {rl.text(statistics.median(narrow), unit)}"
            line += f", page ÷ that {rl.text(middle / statistics.median(narrow), digits=2)}"
        print(line)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
