"""Install rooflib and roofkit only where they are missing, as on Colab."""


def set_up_notebook(
    site: str,
    versions: dict[str, str],
    *modules: str,
    words: dict[str, str] | None = None,
    language: str = "",
) -> None:
    """Import `modules`; if that fails, install the course's packages and retry.

    site: address of the course's site; "" if unknown.
    versions: the version of each package that the notebook was made with.
    words: English → translation of what the cell prints, in a notebook in another language.
    language: that language, for rooflib's tables; "" if the notebook is in English.
    The wheels are taken from the notebook's folder or the unpacked exercises.zip around it, else
    from the site. If neither works, raise an ImportError that says what to do; it is shown without
    a traceback.
    """
    import importlib
    import os
    import re
    import subprocess
    import sys
    from pathlib import Path

    class NotSetUp(ImportError):
        def _render_traceback_(self) -> list[str]:
            return str(self).splitlines()

    def _(message: str) -> str:
        return (words or {}).get(message, message)

    def problem() -> str:
        """Why the modules can't be imported, "" if they can."""
        importlib.invalidate_caches()
        try:
            for module in modules:
                importlib.import_module(module)
        except ImportError as error:
            return str(error)
        if language:
            # A kernel may run each cell in a context of its own, so the variable keeps it.
            os.environ["ROOFLINE_LANGUAGE"] = language
            importlib.import_module("roofkit.words").use(language)
        return ""

    def numbers(version: str) -> list[int]:
        return [int(digits) for digits in re.findall(r"\d+", version)]

    files = {name: f"{name}-{version}-py3-none-any.whl" for name, version in versions.items()}
    # The kernel may run in the editor's folder instead of the notebook's; VS Code sets this name.
    notebook = globals().get("__vsc_ipynb_file__")
    near = [Path.cwd(), *([Path(notebook).parent] if isinstance(notebook, str) else [])]
    below = ("", "wheels", "../wheels", "exercises/wheels")
    places = [(folder / name).resolve() for folder in near for name in below]
    addresses: dict[str, str] = {}
    for place in places:
        if all((place / file).is_file() for file in files.values()):
            addresses = {name: (place / file).as_uri() for name, file in files.items()}
            break
    if site and not addresses:
        addresses = {name: f"{site.rstrip('/')}/wheels/{file}" for name, file in files.items()}

    why = problem()
    if not why:
        for name, version in versions.items():
            found = importlib.import_module(name).__version__
            if numbers(found) < numbers(version):
                file = addresses.get(name, files[name])
                command = f'%pip install --upgrade --no-deps "{file}"'
                print(
                    _("{name} {found} is installed; this notebook was made with {version}.").format(
                        name=name, found=found, version=version
                    )
                )
                how = (
                    _("To update it, run {command}\nand restart the kernel.")
                    if addresses
                    else _(
                        "To update it, download {file} from the course's site,\nrun {command}\n"
                        "and restart the kernel."
                    )
                )
                print(how.format(command=command, file=file))
        return
    if not addresses:
        message = _(
            "{why}. This notebook needs two packages of the course. Download\n{files}\n"
            'from the page "Working on the exercises" of the course\'s site, put both into the\n'
            "folder of this notebook ({folder}), and run this cell again.\n"
            "If you publish the course: set the site's address as html.baseurl in _config.yml,\n"
            "and this cell will fetch both by itself."
        )
        listed = "\n".join(f"    {file}" for file in files.values())
        raise NotSetUp(message.format(why=why, files=listed, folder=Path.cwd()))
    both = ", ".join(addresses.values())
    print(_("{why}. Installing {both}").format(why=why, both=both), flush=True)
    extras = {"roofkit": "[figures]"} if "roofkit.figures" in modules else {}
    wanted = [f"{name}{extras.get(name, '')} @ {at}" for name, at in addresses.items()]
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    done = subprocess.run([*pip, *wanted], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        message = _("They could not be installed. pip said:\n{error}")
        raise NotSetUp(message.format(error=done.stderr.strip()))
    for name in [name for name in sys.modules if name.partition(".")[0] in versions]:
        del sys.modules[name]
    if why := problem():
        message = _("{why}, though both are installed: restart the kernel, then run this cell.")
        raise NotSetUp(message.format(why=why))
    print(_("Both are installed."))
