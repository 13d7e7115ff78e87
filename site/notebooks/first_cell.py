"""What a downloaded notebook begins with."""


def first_cell(page: str, baseurl: str) -> str:
    """The source of the code cell before all others; "" for none.

    `page` is the page's docname, `baseurl` the site's address as _config.yml has it, "" if unknown.
    """
    return ""
