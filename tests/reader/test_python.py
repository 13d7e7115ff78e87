"""A reader runs and edits the Python of a chapter's page."""

from reader import Reader


def test_run_on_a_cold_page_gives_what_was_built(reader: Reader) -> None:
    reader.open("chapters/time")
    built = reader.values()
    assert reader.run() == "Done. All values in the text are as they were built."
    assert reader.values() == built
