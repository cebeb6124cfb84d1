"""``Result``: what every result can do with its tables, notes and rows."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from abstain._files import write_text
from abstain._result import _markup, _plain, _text
from abstain._result._table import Table
from abstain._result._verdict import Verdict
from abstain._result._verdict_lines import markdown_of
from abstain._result._words import clean
from abstain._version import __version__

Path = str | os.PathLike[str] | None


class Result:
    r"""What every result can do: it prints, shows itself in a notebook, and ``to_*`` give it in other forms.

    The forms show the same numbers. Values are fractions; ``scale=1000`` multiplies the numbers of a table, and its
    headings say so. Files are written whole or not at all.

    Examples
    --------
    >>> import abstain
    >>> class Share(abstain.Result):
    ...     def rows(self):
    ...         return [{"score": "msp", "share": 0.25}]
    >>> Share().flat(), Share().to_csv()
    ({'share': 0.25}, 'score,share\nmsp,0.25\n')
    """

    #: Columns of :meth:`rows` that name a row, and those that :meth:`flat` gives (default: all numbers).
    _names: ClassVar[tuple[str, ...]] = ()
    _values: ClassVar[tuple[str, ...]] = ()

    # ------------------------------------------------------------------ what a class gives

    def headline(self) -> str:
        """Return one line that says what this is."""
        return ""

    @property
    def verdict(self) -> Verdict | None:
        """What this result says to going live; None of results that do not answer that."""
        return None

    def tables(self) -> list[Table]:
        """Return what is printed, as tables of values."""
        raise NotImplementedError

    def brief(self) -> list[Table]:
        """Return the tables that a terminal prints below the verdict, which says the rest."""
        return self.tables()

    def notes(self) -> list[str]:
        """Return what a reader must know in addition to the numbers."""
        return []

    def rows(self) -> list[dict[str, Any]]:
        """Return the numbers, a flat dict each."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return plain Python values, with notes and version; NaN is None, an infinity ``"inf"`` or ``"-inf"``."""
        return {**_plain.plain(vars(self)), **self._decided(), "notes": self.notes(), "abstain": __version__}

    def _decided(self) -> dict[str, Any]:
        """Return the verdict as an entry of :meth:`to_dict`; none where there is no verdict."""
        verdict = self.verdict
        return {} if verdict is None else {"verdict": verdict.to_dict()}

    # ------------------------------------------------------------------ forms

    def to_text(self, width: int = 80, *, scale: float = 1.0) -> str:
        """Return plain text of so many columns; what is wider continues below, and no name or number is cut."""
        return _text.plain_text(_text.of_result(self, width, scale))

    def to_json(self, path: Path = None) -> str:
        """Return :meth:`to_dict` as JSON text, and write it to ``path`` if one is given."""
        return _kept(_plain.json_text(self.to_dict()), path)

    def to_csv(self, path: Path = None) -> str:
        """Return :meth:`rows` as CSV, and write it to ``path`` if one is given.

        Names come from files. One that a spreadsheet would read as a formula, because it starts with ``=``, ``+``,
        ``-``, ``@``, a tab or a carriage return, gets an apostrophe in front, as spreadsheets do for text; the
        other forms keep it as it is. Numbers have all digits; NaN is ``nan``, a missing text is empty.
        """
        text = _plain.as_csv(self.rows())
        if path is not None:
            write_text(path, text)
        return text

    def to_polars(self) -> Any:
        """Return :meth:`rows` as a polars data frame."""
        return _plain.as_polars(self.rows())

    def to_pandas(self) -> Any:
        """Return :meth:`rows` as a pandas data frame."""
        return _plain.as_pandas(self.rows())

    def to_markdown(self, path: Path = None, *, scale: float = 1.0) -> str:
        """Return the tables and notes as Markdown, the best in bold, and write it to ``path`` if one is given."""
        head = [_markup.prose(self.headline())] if self.headline() else []
        if self.verdict is not None:
            head.insert(0, markdown_of(self.verdict))
        tables = [table.scaled(scale).to_markdown() for table in self.tables()]
        notes = ["\n".join(f"- {_markup.prose(note)}" for note in self.notes())] if self.notes() else []
        return _kept("\n\n".join([*head, *tables, *notes]), path)

    def to_latex(self, path: Path = None, *, scale: float = 1.0) -> str:
        """Return the tables as LaTeX, notes as comments, and write it to ``path`` if one is given.

        Needs the package booktabs; where ranks are shaded also xcolor with its option table.
        """
        lines = [clean(each) for each in (self.headline(), *self.notes()) if each]
        tables = [table.scaled(scale).to_latex() for table in self.tables()]
        return _kept("\n\n".join([*tables, *(["\n".join(f"% {line}" for line in lines)] if lines else [])]), path)

    def to_html(self, path: Path = None, *, scale: float = 1.0) -> str:
        """Return the tables and notes as HTML without a page around, and write it to ``path`` if one is given."""
        head = _markup.paragraphs([self.headline()] if self.headline() else [])
        tables = "".join(table.scaled(scale).to_html() for table in self.tables())
        return _kept(head + tables + _markup.paragraphs(self.notes()), path)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None, **source: Any) -> None:
        """Write the decision report, one self-contained HTML page (all of it or nothing); by its ending Markdown, JSON.

        Parameters
        ----------
        path : str or path
            Ends in .html, .md or .json.
        title : str, optional
            Heading of the page, for example the name of model and data.
        **source
            What the page should know as well, each optional: ``outputs`` (names of the rows, duplicates),
            ``images`` or ``texts`` of the rows, ``cost=(error, review)``, ``command``, ``files``; ``policies``, per
            score how new files hold it, as arguments of :meth:`EmpiricalThreshold.policy`; of a threshold also
            ``loss`` and ``confidence``, the rows that it was chosen on, for curves and slider.
        """
        from abstain.report import Source, write

        write(self, path, title, Source(**source))

    def flat(self, *, intervals: bool = False) -> dict[str, float]:
        """Return every number under a name of its own, as loggers take them; if asked for, ends of intervals, too."""
        result = {}
        for row in self.rows():
            name = "/".join(str(row[key]) for key in self._names if row.get(key) not in (None, ""))
            chosen = list(self._values) or [key for key in row if key not in self._names]
            if intervals:
                chosen += [key for key in ("low", "high") if key not in chosen]
            for key in chosen:
                if isinstance(value := row.get(key), int | float):
                    parts = [name] if self._values == (key,) else [name, key]
                    result["/".join(part for part in parts if part)] = float(value)
        return result

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        from abstain.report import compact

        return compact(self)

    def __rich_console__(self, console: Any, options: Any) -> Any:
        return _text.rich_lines(_text.of_result(self, options.max_width))


def _kept(text: str, path: Path) -> str:
    """Return the text, and write it as a file that ends with a line break if a path is given."""
    if path is not None:
        write_text(path, text + "\n")
    return text
