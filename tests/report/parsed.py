"""A page of HTML as a parser reads it."""

from html.parser import HTMLParser

#: Elements without an end, and elements whose text is not seen.
VOID = {"meta", "wbr", "link", "br", "img", "hr", "input"}
UNSEEN = {"style", "script", "title", "desc", "table", "option", "noscript"}


class Parsed(HTMLParser):
    """Tags, attributes, text, and the text seen before anything is opened; insists that tags are closed in order."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.open, self.text, self.seen = [], [], [], "", ""
        self.feed(page)
        self.close()
        assert self.open == []
        self.text, self.seen = (" ".join(each.split()) for each in (self.text, self.seen))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        assert len({name for name, _ in attrs}) == len(attrs), f"an attribute of <{tag}> occurs twice"
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(f"open {tag}" if ("open", None) in attrs else tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop().removeprefix("open ") == tag

    def handle_data(self, data):
        self.text += data + " "
        folded = "details" in self.open and "summary" not in self.open
        self.seen += "" if folded or UNSEEN & set(self.open) else data + " "
