"""Language of `make lab`, chosen at its first start and remembered.

An option changes it.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from book_extension.languages import ORIGINAL, TRANSLATIONS, Language, chosen

from commands.jupyterlab.copies import write_whole

FILE = "language"  # in JupyterLab's own folder in my-work/
# The first variable that is set decides. Kernels read only ROOFLINE_LANGUAGE; see roofkit.words.
VARIABLES = ("ROOFLINE_LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
LANGUAGES = (ORIGINAL, *TRANSLATIONS)


def language_of(
    folder: Path,
    told: Language | None,
    environment: Mapping[str, str],
    ask: Callable[[str], str] = input,
) -> Language:
    """Return the language of the option, else the remembered one, else ask for it.

    The question needs a terminal. Without one, and for an empty answer, the language is that of
    the environment. folder: where a choice is remembered; it raises ValueError if that is unknown.
    """
    file = folder / FILE
    if told is None and file.exists():
        return chosen(file.read_text(encoding="utf-8").strip())
    if told is None and not (sys.stdin and sys.stdin.isatty()):
        return of_environment(environment)
    language = told or asked(of_environment(environment), ask)
    write_whole(file, f"{language.code}\n")
    return language


def of_environment(environment: Mapping[str, str]) -> Language:
    """Return the language of a system's settings, such as LANG=zh_CN.UTF-8."""
    name = next(filter(None, map(environment.get, VARIABLES)), "")
    spoken = name.partition("_")[0].lower()
    return next((one for one in TRANSLATIONS if one.code.partition("_")[0] == spoken), ORIGINAL)


def asked(default: Language, ask: Callable[[str], str]) -> Language:
    """Ask for the language until the answer is one of them or empty.

    The question is in all languages.
    """
    choices = ", ".join(f"{n} {one.name}" for n, one in enumerate(LANGUAGES, 1))
    question = f"Language / 语言: {choices} [{LANGUAGES.index(default) + 1}]: "
    answers = {str(n): one for n, one in enumerate(LANGUAGES, 1)} | {"": default}
    answers |= {one.name.lower(): one for one in LANGUAGES}
    answers |= {one.code.lower(): one for one in LANGUAGES}
    language = None
    while language is None:
        try:
            language = answers.get(ask(question).strip().lower())
        except EOFError:
            language = default
    others = ", ".join(one.code for one in LANGUAGES if one is not language)
    print(f"To change it later / 以后要换语言: make lab LANGUAGE={others}")
    return language
