"""CodeMirror, the editor that JupyterLab carries, taken out of its files for the pages.

JupyterLab's scripts are bundled: each file holds numbered modules, `main.*.js` says which number
is which package, and a module asks for others by number. Here the modules of the packages that an
editor for Python needs become one script with a loader of a few lines.
"""

import json
import re
import sys
from functools import cache
from pathlib import Path

STATIC = Path(sys.prefix) / "share" / "jupyter" / "lab" / "static"
SCRIPT = "codemirror.js"
# What the script exports, by package.
WANTED = {
    "@codemirror/view": ("EditorView", "keymap"),
    "@codemirror/commands": ("defaultKeymap", "history", "historyKeymap"),
    "@codemirror/language": ("bracketMatching", "indentUnit", "syntaxHighlighting"),
    "@lezer/highlight": ("highlightCode", "tagHighlighter", "tags"),
    "@codemirror/lang-python": ("python", "pythonLanguage"),
}
# A package that JupyterLab's files do not name as shared is found by what it exports.
BY_EXPORT = {"@codemirror/lang-python": "pythonLanguage:()=>"}
LICENSED = re.compile(
    r"@codemirror/(?:autocomplete|commands|lang-python|language|state|view)"
    r"|@lezer/(?:common|highlight|lr|python)|@marijn/find-cluster-break"
    r"|crelt|style-mod|w3c-keyname"
)
# What JupyterLab bundles with these and leaves out of its list: holder and sources. Their licence
# is the MIT licence, in the words of the others.
UNLISTED = {
    "@lezer/python": (
        "Copyright (C) 2020 by Marijn Haverbeke and others",
        "https://github.com/lezer-parser/python",
    ),
    "@marijn/find-cluster-break": (
        "Copyright (C) 2024 by Marijn Haverbeke",
        "https://github.com/marijnh/find-cluster-break",
    ),
    "w3c-keyname": (
        "Copyright (C) 2016 by Marijn Haverbeke and others",
        "https://github.com/marijnh/w3c-keyname",
    ),
}
LISTED = "third-party-licenses.json"
ENTRY = re.compile(r'name:"([^"]+)",version:"[^"]+",factory:\(\)=>.*?__webpack_require__\((\d+)\)')
SHARED = re.compile(r'(\d+):\{shareScope:"default",shareKey:"([^"]+)"')
MODULE = re.compile(r"[{,](\d+)\((?:[\w$]+,?){0,3}\)\{")
# Other than a call of a function with a number: such names are short, and such numbers long.
ASKED = re.compile(r"[=,(]\w\((\d{4,6})\)")
# What none of the small files has: Node's `process`, which a parser asks for settings.
NODE = "{ env: {} }"
LOADER = """\
const modules = {};
const loaded = {};
const push = ([, some]) => Object.assign(modules, some);
const self = { rspackChunk_jupyterlab_application_top: { push } };
function need(id) {
  if (!loaded[id]) {
    loaded[id] = { exports: {} };
    modules[id](loaded[id], loaded[id].exports, need);
  }
  return loaded[id].exports;
}
need.r = () => {};
need.d = (target, parts) => {
  for (const name of Object.keys(parts)) {
    Object.defineProperty(target, name, { enumerable: true, get: parts[name] });
  }
};
"""


class NotFound(Exception):
    """JupyterLab's files are not as this version of the course knows them."""


@cache
def script(static: Path = STATIC) -> str:
    """The script, a module that exports what WANTED names.

    NotFound if a package is not where JupyterLab 4 has it.
    """
    main = next(iter(static.glob("main.*.js")), None)
    if main is None:
        raise NotFound(f"{static} has no main.*.js")
    told = main.read_text(encoding="utf-8")
    files = [path.read_text(encoding="utf-8") for path in sorted(static.glob("[0-9]*.js"))]
    home = {number: text for text in reversed(files) for number in MODULE.findall(text)}
    numbers = dict(ENTRY.findall(told))
    for package, export in BY_EXPORT.items():
        (numbers[package],) = [MODULE.findall(text)[0] for text in files if export in text] or [""]
    # A package is asked for by another number than the one that its module has.
    shared = SHARED.findall(told)
    alias = {number: numbers[package] for number, package in shared if package in numbers}
    for package, names in WANTED.items():
        text = home.get(numbers.get(package, ""), "")
        if lost := [name for name in names if f"{name}:()=>" not in text]:
            raise NotFound(f"{static} has no {package} with {', '.join(lost)}")
    needed = closure([numbers[package] for package in WANTED], alias, home)
    kept = [text for text in files if any(home.get(number) is text for number in needed)]
    for number in sorted(needed & alias.keys()):
        kept.append(f"modules[{number}] = (module) => (module.exports = need({alias[number]}));")
    for number in needed - home.keys() - alias.keys():
        kept.append(f"modules[{number}] = (module) => (module.exports = {NODE});")
    for package, names in WANTED.items():
        kept.append(f"export const {{ {', '.join(names)} }} = need({numbers[package]});")
    return "\n".join([f"/*!\n\n{licences(static)}\n\n*/", LOADER, *kept, ""])


def closure(first: list[str], alias: dict[str, str], home: dict[str, str]) -> set[str]:
    """The numbers of all modules that these ask for, and those of their files ask for."""
    found: set[str] = set()
    while first:
        number = first.pop()
        if number in found:
            continue
        found.add(number)
        first += [alias[number]] if number in alias else ASKED.findall(home.get(number, ""))
    return found


def listed(static: Path = STATIC) -> list[tuple[str, str, str, str]]:
    """Name, version, licence and its text of each package that JupyterLab lists."""
    told = json.loads((static / LISTED).read_text(encoding="utf-8"))
    return [
        (one["name"], one["versionInfo"], one["licenseId"], one["extractedText"].strip())
        for one in told["packages"]
        if LICENSED.fullmatch(one["name"])
    ]


def unlisted(static: Path) -> dict[str, tuple[str, str]]:
    """What UNLISTED names, without what a newer JupyterLab does list."""
    names = {name for name, *_ in listed(static)}
    return {name: told for name, told in UNLISTED.items() if name not in names}


def licences(static: Path) -> str:
    """Their licences, as JupyterLab hands them on."""
    texts: dict[str, list[str]] = {}
    for name, version, _, text in listed(static):
        texts.setdefault(text, []).append(f"{name} {version}")
    shown = [f"{', '.join(names)}\n\n{text}" for text, names in texts.items()]
    for name, (holder, source) in unlisted(static).items():
        shown.append(f"{name}, {source}\n\nMIT License, as above. {holder}")
    return "\n\n".join(shown)
