"""The README's table of settings, from the one place that describes them: config/default.toml.

`python -m tests.support.readme` writes it anew; a test holds the README to it.
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGIN = "<!-- settings: written by `python -m tests.support.readme` from config/default.toml -->\n"
END = "<!-- /settings -->\n"


def table() -> str:
    """Rows of setting, default, meaning, in the file's order."""
    rows = ["| setting | default | |", "|---|---|---|"]
    section = ""
    for line in (ROOT / "config/default.toml").read_text(encoding="utf-8").splitlines():
        if header := re.match(r"\[([\w.]+)\]", line):
            section = header[1]
        elif setting := re.match(r"(\w+)\s*=\s*(.+?)(?:\s+#\s*(.*))?$", line):
            name, default, meaning = setting.groups()
            rows.append(f"| `{section}.{name}` | `{default}` | {meaning or ''} |")
    return "\n".join(rows) + "\n"


def written(text: str) -> str:
    """The README's text with the table as it should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + BEGIN + "\n" + table() + "\n" + END + after


if __name__ == "__main__":
    readme = ROOT / "README.md"
    readme.write_text(written(readme.read_text(encoding="utf-8")), encoding="utf-8")
