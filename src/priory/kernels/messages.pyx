"""Read messages: the fields of a header, the links and addresses of a text. Every character is passed a bounded number of times."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.string cimport memchr

cdef dict _names = {}  # field names as they are written, and in lower case
cdef enum:
    MOST_NAMES = 1000


def read_header(bytes data not None, Py_ssize_t longest_name, Py_ssize_t longest_value):
    r"""Read the fields at the start of bytes whose lines end in \n, as (fields, where they end).

    A field is its name in lower case, and its value on one line, cut to a length; one with a longer name is left out.
    """
    cdef const char* start = PyBytes_AS_STRING(data)
    cdef Py_ssize_t n = PyBytes_GET_SIZE(data), at = 0, k, colon
    cdef list fields = []
    while True:
        k = at
        while k < n and 33 <= start[k] <= 126 and start[k] != 58:
            k += 1
        if k == at:
            break
        while k < n and (start[k] == 32 or start[k] == 9):
            k += 1
        if k >= n or start[k] != 58:  # a colon
            break
        colon = k
        k = _end_of_line(start, k, n)
        while k + 1 < n and (start[k + 1] == 32 or start[k + 1] == 9):  # a folded line
            k = _end_of_line(start, k + 1, n)
        if colon - at < longest_name:
            value = data[colon + 1:k]
            if memchr(start + colon + 1, 10, k - colon - 1) != NULL:
                value = value.replace(b"\n ", b" ").replace(b"\n\t", b" ")
            fields.append((_lower(data[at:colon]), value[:longest_value] if k - colon > longest_value else value))
        at = min(k + 1, n)
    return fields, at


cdef Py_ssize_t _end_of_line(const char* start, Py_ssize_t k, Py_ssize_t n) noexcept:
    cdef const char* found = <const char*> memchr(start + k, 10, n - k)
    return n if found == NULL else found - start


cdef str _lower(bytes name):
    found = _names.get(name)
    if found is None:
        found = name.strip().lower().decode("ascii")
        if len(_names) < MOST_NAMES:
            _names[name] = found
    return found


def cut_links(str text not None):
    """Cut links and addresses out of a text: (what is left, with a space for each; [(whether it is an address, it), …])."""
    return _cut(text, True)


def cut_addresses(str text not None):
    """Cut addresses out of a text as `cut_links` does, but none that begins where another ends."""
    return _cut(text, False)


cdef tuple _cut(str text, bint links):
    cdef Py_ssize_t n = len(text), i = 0, start, stop, end = 0
    cdef Py_UCS4 c
    cdef list found = [], pieces = []
    while i < n:
        c = text[i]
        stop = start = i
        if c == u"@":
            start = _start_of_address(text, i, end)
            if start < i and (links or start != end or end == 0 or not _in_address(text[end - 1])):
                stop = _end_of_domain(text, i + 1, n)
                stop = i if stop == i + 1 else stop
        elif links and (c == u":" or c == u"w" or c == u"W") and _mark(text, i, n):
            start = _start_of_link(text, i, end) if c == u":" else _start_of_www(text, i)
            if start >= 0:
                stop = _end_of_link(text, i + _mark(text, i, n), n)
        if stop <= i:
            i += 1
            continue
        found.append((c == u"@", text[start:stop]) if links else text[start:stop])
        pieces.append(text[end:start])
        pieces.append(u" ")
        i = end = stop
    if not found:
        return text, found
    pieces.append(text[end:])
    return u"".join(pieces), found


cdef Py_ssize_t _mark(str text, Py_ssize_t i, Py_ssize_t n) noexcept:
    """Measure the mark of a link that is here, :// or www. in three spellings; 0 for none."""
    if text[i] == u":":
        return 3 if i + 2 < n and text[i + 1] == u"/" and text[i + 2] == u"/" else 0
    if i + 3 >= n or text[i + 3] != u".":
        return 0
    if text[i + 1] == u"w" and text[i + 2] == u"w":
        return 4
    return 4 if text[i] == u"W" and text[i + 1] == u"W" and text[i + 2] == u"W" else 0


cdef bint _is_word(Py_UCS4 c) noexcept:
    return c.isalnum() or c == u"_"


cdef bint _in_address(Py_UCS4 c) noexcept:
    return _is_word(c) or c in u".+%'-"


cdef Py_ssize_t _start_of_address(str text, Py_ssize_t at, Py_ssize_t end) noexcept:
    """Go back from an @ to where the address begins, not beyond `end`."""
    while at > end and _in_address(text[at - 1]):
        at -= 1
    return at


cdef Py_ssize_t _end_of_domain(str text, Py_ssize_t i, Py_ssize_t n) noexcept:
    while i < n and (_is_word(text[i]) or text[i] == u"." or text[i] == u"-"):
        i += 1
    return i


cdef Py_ssize_t _start_of_link(str text, Py_ssize_t at, Py_ssize_t end) noexcept:
    """Find where https, http or ftp begins that stands before ://, as a word, not before `end`; −1 for none."""
    cdef Py_ssize_t size
    for size in (5, 4, 3):
        if at - size >= end and _is_scheme(text, at - size, size):
            if at == size or not _is_word(text[at - size - 1]):
                return at - size
    return -1


cdef bint _is_scheme(str text, Py_ssize_t i, Py_ssize_t size) noexcept:
    if size == 3:
        return text[i] in u"fF" and text[i + 1] in u"tT" and text[i + 2] in u"pP"
    if not (text[i] in u"hH" and text[i + 1] in u"tT" and text[i + 2] in u"tT" and text[i + 3] in u"pP"):
        return False
    return size == 4 or text[i + 4] in u"sS\u017f"  # the long s, whose capital is S too


cdef Py_ssize_t _start_of_www(str text, Py_ssize_t at) noexcept:
    return -1 if at and (_is_word(text[at - 1]) or text[at - 1] in u".@/-") else at


cdef Py_ssize_t _end_of_link(str text, Py_ssize_t i, Py_ssize_t n) noexcept:
    """Go to the end of a link; where nothing follows its mark, to −1."""
    cdef Py_ssize_t start = i
    while i < n and not (text[i].isspace() or text[i] in u'<>"'):
        i += 1
    return i if i > start else -1
