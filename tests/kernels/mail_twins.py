"""What the kernels of mail do, by patterns and in the order of a person's thoughts."""

import re

import numpy as np

from priory.kernels.markup import FLAGS
from priory.text.markup import _CLOSE, _TAGS, _read_attributes, _unescape

# ---- pages --------------------------------------------------------------------------------------

_TAG = re.compile(
    r"""([^<]*+)<(/?)([a-zA-Z][^\s/>]*+)((?:[^>"'=]++|=\s*+(?:"[^"]*+"|'[^']*+'|)|["'])*+)>"""
)
_SHORT_TAG = re.compile(r"([^<]*+)<(/?)([a-zA-Z][^\s/>]*+)([^>]*+)>")
_ATTRIBUTE = re.compile(r"""([^\s/>=]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]*+))?""")
_WHITE = (255, 255, 255)
_MOST_OPEN = 200


def colour_of(number):
    return None if number == -1 else (number >> 20, number >> 10 & 1023, number & 1023)


class Sight:
    """Follow the tags of a page, and tell whether text can be seen where they have led."""

    def __init__(self):
        self.found, self.hider, self.depth, self.colours = {}, None, 0, []

    def hides(self):
        if self.hider is not None:
            self.found[self.how] = None
            return True
        if self.colours:
            _, behind, front, _ = self.colours[-1]
            if (
                behind
                and front
                and sum(abs(a - b) for a, b in zip(behind, front, strict=True)) < 36
            ):
                self.found["colour"] = None
                return True
        return False

    def open(self, name, looks):
        flags = _TAGS.get(name, 0)
        if flags & FLAGS["void"]:
            return
        if self.hider is not None:
            if name != self.hider:
                return
            if not flags & FLAGS["closed by itself"]:
                self.depth += 1
                return
            self.hider = None
        if looks is not None:
            how, behind, front, of_body = looks
            if how:
                self.hider, self.depth, self.how = name, 1, how
                return
            front = of_body if name == "body" else front
            if (behind, front) != (-2, -2) and len(self.colours) < _MOST_OPEN:
                before = self.colours[-1] if self.colours else ("", _WHITE, None, 0)
                behind = before[1] if behind == -2 else colour_of(behind)
                front = before[2] if front == -2 else colour_of(front)
                self.colours.append([name, behind, front, 1])
                return
        if self.colours and self.colours[-1][0] == name:
            self.colours[-1][3] += 1

    def close(self, name):
        if self.hider is not None:
            if name == self.hider:
                self.depth -= 1
                if self.depth <= 0:
                    self.hider = None
        elif self.colours and self.colours[-1][0] == name:
            self.colours[-1][3] -= 1
            if self.colours[-1][3] <= 0:
                self.colours.pop()


def page_twin(html):
    """Read a page as `read_page` does, given what priory.text.markup gives it."""
    texts, links, sight = [], [], Sight()
    last, last_comment = html.rfind(">"), html.rfind("-->")
    tag, start = _TAG, 0

    def show(text):
        if not (text.strip() and sight.hides()):
            texts.append(_unescape(text))

    while True:
        found = tag.match(html, start)
        if found is None:
            at = html.find("<", start)
            if at < 0 or at > last:
                show(html[start:])
                break
            if re.compile("</?[a-zA-Z]").match(html, at):
                tag = _SHORT_TAG
                continue
            show(html[start:at])
            if html.startswith("<!--", at):
                closed = not html.startswith((">", "->"), at + 4) and last_comment >= at + 4
                start = html.index("-->", at + 4) + 3 if closed else html.index(">", at) + 1
            elif html[at + 1] in "!?/":
                start = html.index(">", at) + 1
            else:
                texts.append("<")
                start = at + 1
            continue
        text, slash, name, rest = found.groups()
        start, name = found.end(), name.lower()
        if text:
            show(text)
        flags = _TAGS.get(name, 0)
        if flags & FLAGS["block"]:
            texts.append(" ")
        if slash:
            sight.close(name)
            continue
        looks, seen, led = _read_attributes(rest) if len(rest) > 5 else (None, [], [])
        if seen and not sight.hides():
            texts += seen
        links += led
        sight.open(name, looks)
        if flags & FLAGS["unseen"] and not rest.endswith("/"):
            close = _CLOSE[name].search(html, start)
            if close is None:
                break
            start = close.start()
    return "".join(texts), links, list(sight.found)


def attributes_twin(tag, names):
    found = []
    for attribute in _ATTRIBUTE.finditer(tag):
        name, value = attribute[1].lower(), attribute[2] or ""
        quoted = value[:1] in "\"'" and value[-1:] == value[:1]
        if name in names:
            found.append((name, value[1:-1] if quoted else value))
    return found


# ---- messages -----------------------------------------------------------------------------------

_FIELDS = re.compile(rb"(?:[!-9;-~]++[ \t]*+:[^\n]*+(?:\n[ \t][^\n]*+)*+(?:\n|\Z))*+")
_ADDRESS = re.compile(r"(?<![\w.+%'-])[\w.+%'-]++@[\w.-]++")
_BEFORE_AT = re.compile(r"[\w.+%'-]*\Z")
_AFTER_AT = re.compile(r"@[\w.-]++")
_MARKS = re.compile(r"://|@|www\.|WWW\.|Www\.")
_SCHEME = re.compile(r"\b(?:https?|ftp)\Z", re.IGNORECASE)
_NO_WWW = re.compile(r"(?<![\w.@/-])")
_REST = re.compile(r"[^\s<>\"]++")


def header_twin(data, longest_name, longest_value):
    end = _FIELDS.match(data).end()
    fields = []
    for line in data[:end].replace(b"\n ", b" ").replace(b"\n\t", b" ").split(b"\n"):
        name, colon, value = line.partition(b":")
        if colon and len(name) < longest_name:
            fields.append((name.strip().lower().decode(), value[:longest_value]))
    return fields, end


def links_twin(text):
    found, pieces, end = [], [], 0
    for mark in _MARKS.finditer(text):
        at = mark.start()
        if at < end:
            continue
        if mark[0] == "@":
            start = _BEFORE_AT.search(text, end, at).start()
            rest = _AFTER_AT.match(text, at) if start < at else None
        else:
            scheme = _SCHEME.search(text, end, at) if mark[0] == "://" else _NO_WWW.match(text, at)
            start = scheme.start() if scheme else -1
            rest = _REST.match(text, mark.end()) if scheme else None
        if rest:
            found.append((mark[0] == "@", text[start : rest.end()]))
            pieces += [text[end:start], " "]
            end = rest.end()
    return "".join([*pieces, text[end:]]), found


def addresses_twin(text):
    return _ADDRESS.sub(" ", text), _ADDRESS.findall(text)


# ---- telling words ------------------------------------------------------------------------------


def telling_twin(indptr, codes, evidence, group, most):
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    codes = codes[indptr[0] : indptr[-1]].astype(np.int64)
    telling = codes >= 0
    rows, codes = rows[telling], codes[telling]
    telling = evidence[codes] != 0
    rows, codes = rows[telling], codes[telling]
    place = 4 * rows + group[codes]
    order = np.lexsort((codes, -np.abs(evidence[codes]), place))
    starts = np.searchsorted(place[order], place[order])
    kept = order[np.arange(len(order)) - starts < max(most, 1)]
    return rows[kept], codes[kept]
