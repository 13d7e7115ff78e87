"""Addresses of the published course, and links to them.

They come from `_config.yml` and EDITION. All of them may be unset, which is the default: then no
page links to these places.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import yaml

ALLOWED_SITE = 'an address such as "https://example.org/course", or ""'
ALLOWED_REPOSITORY = 'an address such as "https://github.com/owner/name" at GitHub or GitLab, or ""'
ALLOWED_EDITION = "a tag of letters, digits, dots, dashes and underscores"
COLAB = "https://colab.research.google.com/#fileId="
BINDER = "https://mybinder.org/v2"


class AddressError(ValueError):
    """Raised, with a message of one line, for an invalid address or edition."""


@dataclass(frozen=True)
class Addresses:
    """Addresses of a build, each "" if unknown and without a slash at the end.

    course: the top of the published site. edition: the tag that the build is made from, and the
    name of the folder with its pages. repository, branch: where the sources are.
    """

    course: str = ""
    repository: str = ""
    branch: str = ""
    edition: str = ""

    @property
    def site(self) -> str:
        """Address of the build's title page, without its file name."""
        return f"{self.course}/{self.edition}" if self.course and self.edition else self.course

    @property
    def commit(self) -> str:
        """Branch or tag that the pages were made from."""
        return self.edition or self.branch

    def source(self, path: str) -> str:
        """Return the address that shows a file of the repository."""
        folder = "-/blob" if self.on_gitlab else "blob"
        return f"{self.repository}/{folder}/{quote(self.commit)}/{quote(path)}"

    def edit(self, path: str) -> str:
        """Return the address to edit a file; "" in an edition built from a tag."""
        if self.edition:
            return ""
        folder = "-/edit" if self.on_gitlab else "edit"
        return f"{self.repository}/{folder}/{quote(self.branch)}/{quote(path)}"

    def report(self, title: str, text: str) -> str:
        """Return the address of the report form with title and text filled in."""
        if self.on_gitlab:
            form, fields = "-/issues/new", {"issue[title]": title, "issue[description]": text}
        else:
            form, fields = "issues/new", {"title": title, "body": text}
        return f"{self.repository}/{form}?{urlencode(fields, quote_via=quote)}"

    def colab(self, notebook: str) -> str:
        """Return the address at which Colab opens a notebook of the site."""
        return COLAB + quote(f"{self.site}/{notebook}", safe="")

    def binder(self, notebook: str) -> str:
        """Return the address at which Binder opens a page's JupyterLab notebook."""
        parts = urlsplit(self.repository)
        where = {
            "github.com": f"gh{parts.path}",
            "gitlab.com": f"gl/{quote(parts.path[1:], safe='')}",
        }
        found = where.get(parts.netloc, f"git/{quote(self.repository, safe='')}")
        opened = quote(f"lab/tree/{notebook}")
        return f"{BINDER}/{found}/{quote(self.commit, safe='')}?urlpath={opened}"

    @property
    def on_gitlab(self) -> bool:
        return "gitlab" in urlsplit(self.repository).netloc


def read(config: Path) -> Addresses:
    """Read the addresses from a configuration and the environment variable EDITION.

    Raises AddressError for an invalid setting.
    """
    settings = yaml.safe_load(config.read_text(encoding="utf-8"))
    repository = settings.get("repository") or {}
    html = settings.get("html") or {}
    return Addresses(
        course=_address("html.baseurl", html.get("baseurl"), ALLOWED_SITE),
        repository=_repository(repository.get("url")),
        branch=str(repository.get("branch") or "main"),
        edition=_edition(os.environ.get("EDITION", "")),
    )


def _address(name: str, value: object, allowed: str) -> str:
    text = str(value or "").rstrip("/")
    parts = urlsplit(text)
    here = parts.hostname in (
        "127.0.0.1",
        "localhost",
    )  # a local server, to try out a build before publishing it
    secure = parts.scheme == "https" or (parts.scheme == "http" and here)
    if text and not (secure and parts.netloc and not parts.query and not parts.fragment):
        raise AddressError(f"{name} in _config.yml is {value!r}; allowed is {allowed}")
    return text


def _repository(value: object) -> str:
    text = _address("repository.url", value, ALLOWED_REPOSITORY).removesuffix(".git")
    parts = urlsplit(text)
    known = re.search(r"github|gitlab", parts.netloc) and re.fullmatch(
        r"/[^/]+(/[^/]+)+", parts.path
    )
    if text and not known:
        raise AddressError(
            f"repository.url in _config.yml is {value!r}; allowed is {ALLOWED_REPOSITORY}"
        )
    return text


def _edition(value: str) -> str:
    if value and not re.fullmatch(r"\w[\w.-]*", value):
        raise AddressError(f"EDITION is {value!r}; allowed is {ALLOWED_EDITION}, or nothing")
    return value
