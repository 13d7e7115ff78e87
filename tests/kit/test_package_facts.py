"""Version and license of installed packages, and the license of their fonts."""

from importlib import metadata

import pytest

from roofkit.package_facts import font_license, license, package

BSD = "License :: OSI Approved :: BSD License"


@pytest.mark.parametrize(
    ("expression", "field", "classifiers", "expected"),
    [
        ("MIT", "GPL", [BSD], "MIT"),
        ("", "SIL OFL 1.1\n", [BSD], "SIL OFL 1.1"),
        ("", "BSD License\n\nCopyright", [BSD], "BSD License"),
        ("", "", [BSD, "License :: OSI Approved :: MIT License"], "BSD License, MIT License"),
        ("", "", ["License :: Public Domain"], "Public Domain"),
        ("", "", [], "not said"),
    ],
)
def test_licenses_come_from_the_newest_metadata_field(
    expression, field, classifiers, expected
) -> None:
    assert license(expression, field, classifiers) == expected


def test_version_and_license_match_the_installed_package() -> None:
    assert package("pytest").version == metadata.version("pytest") == pytest.__version__
    assert package("pytest").license == "MIT"


def test_missing_packages_are_named_in_the_error() -> None:
    with pytest.raises(LookupError, match=r"name is 'no-such'; allowed is the name of a package"):
        package("no-such")


def test_a_font_may_have_another_license_than_its_package() -> None:
    assert package("ziamath").license == "MIT"
    # This is the license's name on https://scripts.sil.org/OFL.
    assert font_license("ziamath") == "SIL Open Font License, Version 1.1"
    assert font_license("font-source-serif-pro") == font_license("ziamath")


@pytest.mark.parametrize(
    ("name", "allowed"),
    [("no-such", "the name of a package"), ("pytest", "a package whose fonts name")],
)
def test_packages_without_font_licenses_are_named_in_the_error(name: str, allowed: str) -> None:
    with pytest.raises(LookupError, match=f"^name is '{name}'; allowed is {allowed}"):
        font_license(name)
