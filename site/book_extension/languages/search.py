"""Search in Chinese, which has no spaces between words.

The words are single characters and pairs of neighbors. A query of several characters is split into
its pairs, and a page that has all of them is found. So no dictionary decides what a word is.
"""

import re

from sphinx.search.en import SearchEnglish

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
RUNS = re.compile(rf"[{HAN}]+|[^\W{HAN}]+")


class ChineseSearch(SearchEnglish):
    """Splitter of Chinese and English text into words, in Python and JavaScript."""

    lang = "zh"
    language_name = "Chinese"
    js_splitter_code = f"""
const CHINESE = /^[{HAN}]{{2,}}$/u;
function splitQuery(query) {{
  const runs = query.match(/[{HAN}]+|(?:(?![{HAN}])[\\p{{L}}\\p{{N}}_])+/gu) ?? [];
  return runs.flatMap((run) =>
    CHINESE.test(run) ? [...run].slice(1).map((_, at) => run.slice(at, at + 2)) : [run]);
}}
"""

    def split(self, input: str) -> list[str]:
        return [word for run in RUNS.findall(input) for word in words(run)]


def words(run: str) -> list[str]:
    """Return the words in a run of letters: for Chinese, its characters and bigrams."""
    if not re.match(f"[{HAN}]", run):
        return [run]
    return [*run, *(run[at : at + 2] for at in range(len(run) - 1))]
