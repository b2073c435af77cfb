"""The form in which the browser computes what a model says of a row."""

from __future__ import annotations

from collections.abc import Sequence

from priory.reporting.content import Content
from priory.reporting.form import controls
from priory.reporting.markup import Html, h
from priory.reporting.page_data import PageData
from priory.reporting.tables import section

__all__ = ["trial"]


def trial(
    content: Content,
    data: PageData,
    title: str = "Try it",
    ending: str = "Nothing is sent anywhere.",
) -> Html:
    """Make the form in which the browser computes, or say why there is none.

    `ending` says what happens to what is asked.
    """
    remark = None if data.remark is None else h("p", data.remark, class_="soft")
    if data.text is None:
        return section("trial", title, h("p", "The model is not computed on this page."), remark)
    pairs = data.pairs
    names = content.names
    has_typical = any(column["typical"] is not None for column in content.columns)
    typical = h("button", "Typical row", type="button", data_row="typical")
    buttons = [typical] if has_typical else []
    buttons += [
        h("button", f"Example {i + 1}", type="button", data_row=i)
        for i in range(len(content.examples))
    ]
    buttons.append(h("button", "All missing", type="button", data_row="empty"))
    order = _order(content)
    paired = None
    if pairs:
        rows = [
            h(
                "div",
                h("span", name, class_="name"),
                h("div", class_="strip"),
                h("output", class_="adds"),
                class_="column paired",
                data_pair=i,
            )
            for i, name in enumerate(pairs)
        ]
        total = h("output", id="priory-pairs")
        many = f"{len(pairs)} pairs of columns" if len(pairs) > 1 else "A pair of columns"
        paired = h("details", h("summary", many, " counted together: ", total), rows)
    answer = h(
        "div",
        h("p", id="priory-answer", role="status"),
        h("ul", id="priory-classes", aria_label="Probability of each class"),
        class_="answer",
    )
    told = (
        "Set the values of a row, or leave them out; the browser computes what the model says. "
        "Each dot stands where the value’s log-odds do, as in a nomogram: the probability follows "
        "from their sum. "
    )
    form = h(
        "form",
        h("div", buttons, _choosers(names, content), class_="buttons"),
        answer,
        controls(content.columns, order),
        paired,
        id="priory-form",
        autocomplete="off",
    )
    return section(
        "trial",
        title,
        h("p", told, ending),
        remark,
        h("noscript", h("p", "This part needs JavaScript.")),
        form,
    )


def _order(content: Content) -> list[int]:
    """Put the columns in the order of the axes, texts first."""
    place = {column["name"]: i for i, column in enumerate(content.columns)}
    texts = [i for i, column in enumerate(content.columns) if column["kind"] == "text"]
    order = [place[name] for axis in content.axes.axes for name in axis.columns]
    rest = [i for i, column in enumerate(content.columns) if column["used"]]
    return list(dict.fromkeys([*texts, *order, *rest]))


def _choosers(names: Sequence[str], content: Content) -> Html | None:
    if len(names) < 3:
        return h(
            "span", "log-odds of ", h("strong", names[-1]), " against ", names[0], class_="soft"
        )
    largest = int(content.classifier.statistics.weight.argmax())
    of = [h("option", name, value=k, selected=k == largest) for k, name in enumerate(names)]
    others = [h("option", "all others", value=-1, selected=True)]
    others += [h("option", name, value=k) for k, name in enumerate(names)]
    return h(
        "span",
        h("label", "log-odds of ", for_="priory-target"),
        h("select", of, id="priory-target"),
        h("label", " against ", for_="priory-against"),
        h("select", others, id="priory-against"),
        class_="choosers",
    )
