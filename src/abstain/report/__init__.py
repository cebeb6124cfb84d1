"""Pages of results: the highest package, called by others inside ``.report()`` and in notebooks only."""

from abstain.report._build import build as build
from abstain.report._build import write as write
from abstain.report._html import as_html as as_html
from abstain.report._notebook import compact as compact
from abstain.report._page import Page as Page
from abstain.report._source import Source as Source
