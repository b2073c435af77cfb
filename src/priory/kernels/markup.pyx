"""Read HTML tag after tag: what a page shows, where it leads, and how it hides text.

What the names and attributes of tags mean is told by the caller (priory.text.markup, priory.text.hiding); here every
character is passed, once for text and once for tags. A tag ends at the first ">" that is not in a quoted value. Where quotes
hide every ">" that is left, they are ignored from there on.
"""

from libc.stdint cimport int32_t

cdef enum:
    BLOCK = 1  # a tag parts words
    UNSEEN = 2  # its content is not displayed
    VOID = 4  # it has no content
    CLOSED_BY_ITSELF = 8  # the next one of its kind ends it

    MOST_OPEN = 200
    NEAR = 36
    BITS = 10  # of each of red, green and blue
    UNKNOWN = -1
    NOT_SET = -2
    WHITE = (255 << BITS | 255) << BITS | 255

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_FindChar(str, Py_UCS4, Py_ssize_t, Py_ssize_t, int) except -2

FLAGS = {"block": BLOCK, "unseen": UNSEEN, "void": VOID, "closed by itself": CLOSED_BY_ITSELF}
"""What a tag is, as bits."""


def read_page(str html not None, dict tags not None, dict closes not None, attributes not None, unescape not None):
    """Read a page as (its texts, links, the ways in which text was hidden).

    tags        FLAGS of tags by their names in lower case
    closes      of each that is unseen the pattern of what ends it
    attributes  a function of what stands between a tag's name and its ">": (looks, texts, links). Looks are None, or how the
                element is hidden ("" for not), its background, the colour of its letters, and that if it is <body>;
                colours have 10 bits each of red, green and blue, −1 is one that is not known, −2 none.
    unescape    a function that decodes character references
    """
    cdef _Sight sight = _Sight()
    cdef list texts = [], links = []
    cdef Py_ssize_t n = len(html), start = 0, at, name_at, name_end, end = 0
    cdef Py_ssize_t last = html.rfind(">"), last_comment = html.rfind("-->")
    cdef bint short = False, slash
    cdef int flags
    cdef str name, text
    while True:
        at = _find(html, u"<", start, n)
        if at < 0 or at > last:  # no tag is closed any more: the rest is text
            _show(html[start:], sight, texts, unescape)
            break
        name_at = at + 1  # at most `last`
        slash = html[name_at] == u"/"
        if slash:
            name_at += 1
        if name_at >= n or not _is_letter(html[name_at]):
            _show(html[start:at], sight, texts, unescape)
            start = _after_no_tag(html, at, last_comment, texts)
            continue
        name_end = _end_of_name(html, name_at + 1, n)
        end = _find(html, u">", name_end, n) if short else _end_of_tag(html, name_end, n)
        if end < 0:
            short = True  # there is a ">", in quotes
            continue
        if at > start:
            text = html[start:at]
            if sight.is_at_work or u"&" in text:
                _show(text, sight, texts, unescape)
            else:
                texts.append(text)
        start = end + 1
        name = html[name_at:name_end].lower()
        flags = tags.get(name, 0)
        if flags & BLOCK:
            texts.append(u" ")
        if slash:
            if sight.is_at_work:
                sight.close(name)
            continue
        looks = None
        if end - name_end > 5:  # the shortest that says anything is src=x
            looks, seen, led = attributes(html[name_end:end])
            if seen and not (sight.is_at_work and sight.hides()):
                texts += seen
            links += led
        if looks is not None or sight.is_at_work:
            sight.open(name, flags, looks)
        if flags & UNSEEN and html[end - 1] != u"/":
            close = closes[name].search(html, start)
            if close is None:
                break  # browsers display nothing of the rest
            start = close.start()
    return texts, links, list(sight.found)


def read_attributes(str tag not None, frozenset names not None):
    """List the attributes that are among some names, as (name in lower case, value without its quotes, "" for none)."""
    cdef Py_ssize_t n = len(tag), i = 0, start, stop
    cdef list found = []
    cdef str name
    while i < n:
        if tag[i].isspace() or tag[i] in u"/>=":
            i += 1
            continue
        start = i
        while i < n and not (tag[i].isspace() or tag[i] in u"/>="):
            i += 1
        name = tag[start:i].lower()
        start = stop = _after_space(tag, i, n)
        if start < n and tag[start] == u"=":
            start = stop = _after_space(tag, start + 1, n)
            i = n
            if start < n:
                stop = _find(tag, tag[start], start + 1, n) if tag[start] in u"\"'" else -1
                i = stop + 1
                if stop >= 0:
                    start += 1
                else:
                    i = start
                    while i < n and tag[i] != u">" and not tag[i].isspace():
                        i += 1
                    stop = i
                    if stop > start and tag[start] in u"\"'" and tag[stop - 1] == tag[start]:
                        start += 1
                        stop = max(stop - 1, start)
        if name in names:
            found.append((name, tag[start:stop]))
    return found


cdef Py_ssize_t _after_space(str text, Py_ssize_t i, Py_ssize_t n) noexcept:
    while i < n and text[i].isspace():
        i += 1
    return i


cdef Py_ssize_t _find(str html, Py_UCS4 c, Py_ssize_t start, Py_ssize_t n) except -2:
    return PyUnicode_FindChar(html, c, start, n, 1) if start < n else -1


cdef bint _is_letter(Py_UCS4 c) noexcept:
    return u"a" <= c <= u"z" or u"A" <= c <= u"Z"


cdef Py_ssize_t _end_of_name(str html, Py_ssize_t i, Py_ssize_t n) noexcept:
    while i < n and html[i] != u">" and html[i] != u"/" and not html[i].isspace():
        i += 1
    return i


cdef Py_ssize_t _end_of_tag(str html, Py_ssize_t i, Py_ssize_t n) except -2:
    """Find the ">" that ends a tag, −1 for none; those in quoted values do not."""
    cdef Py_ssize_t closed
    while i < n:
        if html[i] == u">":
            return i
        if html[i] != u"=":
            i += 1
            continue
        i += 1
        i = _after_space(html, i, n)
        if i < n and (html[i] == u'"' or html[i] == u"'"):
            closed = _find(html, html[i], i + 1, n)
            i = closed + 1 if closed >= 0 else i + 1
    return -1


cdef Py_ssize_t _after_no_tag(str html, Py_ssize_t at, Py_ssize_t last_comment, list texts) except -1:
    """Pass a "<" that begins no tag, which has a ">" behind it: a comment, a declaration, or a sign."""
    if html.startswith(u"<!--", at):
        if not html.startswith((u">", u"->"), at + 4) and last_comment >= at + 4:
            return html.index(u"-->", at + 4) + 3
        return html.index(u">", at) + 1  # an unclosed comment ends at the first ">"
    if html[at + 1] in u"!?/":  # a declaration, or what browsers treat as a comment
        return html.index(u">", at) + 1
    texts.append(u"<")
    return at + 1


cdef int _show(str text, _Sight sight, list texts, unescape) except -1:
    """Take text that is seen; white space always parts words."""
    if sight.is_at_work and not text.isspace() and text and sight.hides():
        return 0
    texts.append(unescape(text) if u"&" in text else text)
    return 0


cdef class _Sight:
    """Follow the tags of a page, and tell whether text can be seen where they have led."""

    cdef dict found  # how text was hidden, in order
    cdef bint is_at_work  # whether tags without attributes matter
    cdef str hider, how
    cdef Py_ssize_t depth, n
    # Elements that set colours: their names, how many of this name are open, background, colour.
    cdef list names
    cdef Py_ssize_t same[MOST_OPEN]
    cdef int32_t background[MOST_OPEN]
    cdef int32_t colour[MOST_OPEN]

    def __cinit__(self):
        self.found, self.names = {}, []

    cdef bint hides(self) except -1:
        """Tell whether text is hidden here, and note how."""
        if self.hider is not None:
            self.found[self.how] = None
            return True
        if self.n and _near(self.colour[self.n - 1], self.background[self.n - 1]):
            self.found[u"colour"] = None
            return True
        return False

    cdef int open(self, str name, int flags, looks) except -1:
        """Pass the start of an element."""
        if flags & VOID:
            return 0
        if self.hider is not None:
            if name != self.hider:
                return 0
            if not flags & CLOSED_BY_ITSELF:
                self.depth += 1
                return 0
            self.hider = None
            self.is_at_work = self.n > 0
        if looks is not None:
            if looks[0]:
                self.hider, self.depth, self.how, self.is_at_work = name, 1, looks[0], True
                return 0
            if self._sets_colours(name, looks[1], looks[3] if name == u"body" else looks[2]):
                return 0
        if self.n and self.names[self.n - 1] == name:
            self.same[self.n - 1] += 1
        return 0

    cdef int close(self, str name) except -1:
        """Pass the end of an element."""
        if self.hider is not None:
            if name == self.hider:
                self.depth -= 1
                if self.depth <= 0:
                    self.hider, self.is_at_work = None, self.n > 0
        elif self.n and self.names[self.n - 1] == name:
            self.same[self.n - 1] -= 1
            if self.same[self.n - 1] <= 0:
                self.n -= 1
                self.names.pop()
                self.is_at_work = self.n > 0
        return 0

    cdef bint _sets_colours(self, str name, int32_t behind, int32_t front) except -1:
        cdef Py_ssize_t n = self.n
        if behind == NOT_SET and front == NOT_SET or n >= MOST_OPEN:
            return False
        if behind == NOT_SET:
            behind = self.background[n - 1] if n else WHITE
        if front == NOT_SET:
            front = self.colour[n - 1] if n else UNKNOWN
        self.names.append(name)
        self.same[n], self.background[n], self.colour[n] = 1, behind, front
        self.n, self.is_at_work = n + 1, True
        return True


cdef bint _near(int32_t a, int32_t b) noexcept:
    cdef int32_t difference = 0, mask = (1 << BITS) - 1
    if a < 0 or b < 0:
        return False
    for _ in range(3):
        difference += abs((a & mask) - (b & mask))
        a >>= BITS
        b >>= BITS
    return difference < NEAR
