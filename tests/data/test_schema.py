"""The schema: joining what two batches know, printing it, writing it."""

import json

import pytest

from priory.base.errors import SchemaError
from priory.data.schema import Block, Kind, Schema


def block(kind, name="x", columns=None, why=""):
    return Block(name, columns or (name,), kind, why)


def schema(**kinds):
    blocks = tuple(block(kind, name, why="because") for name, kind in kinds.items())
    return Schema(tuple(kinds), blocks)


@pytest.mark.parametrize("kind", list(Kind))
def test_a_kind_joined_with_itself_or_with_nothing_stays(kind):
    assert block(kind).join(block(kind)).kind is kind
    assert block(kind).join(block(Kind.EMPTY)).kind is kind
    assert block(Kind.EMPTY).join(block(kind)).kind is kind


def test_labels_that_are_a_unique_identifier_somewhere_are_one():
    labels, identifier = block(Kind.LABELS), block(Kind.IDENTIFIER)
    assert labels.join(identifier).kind is Kind.IDENTIFIER
    assert identifier.join(labels).kind is Kind.IDENTIFIER


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Kind.LABELS, Kind.NUMBERS),
        (Kind.NUMBERS, Kind.MOMENTS),
        (Kind.NUMBERS, Kind.IDENTIFIER),
        (Kind.COUNTS, Kind.MOMENTS),
    ],
)
def test_different_kinds_refuse_and_say_how_to_agree(a, b):
    message = f"Column 'x' holds {a} on one side and {b} on the other.*families="
    with pytest.raises(SchemaError, match=message):
        block(a).join(block(b))


def test_blocks_of_different_columns_refuse():
    a, b = block(Kind.COUNTS, columns=("p", "q")), block(Kind.COUNTS, columns=("p", "r"))
    with pytest.raises(SchemaError, match=r"Block 'x' has columns \['p', 'q'\] on one side"):
        a.join(b)


def test_schemas_of_different_columns_refuse_and_name_them():
    a, b = schema(x=Kind.LABELS, y=Kind.LABELS), schema(x=Kind.LABELS, z=Kind.LABELS)
    with pytest.raises(SchemaError, match=r"only the first has \['y'\], only the second has \['z'"):
        a.join(b)


def test_joining_works_column_by_column():
    a = schema(x=Kind.EMPTY, y=Kind.NUMBERS, z=Kind.LABELS)
    b = schema(x=Kind.LABELS, y=Kind.EMPTY, z=Kind.IDENTIFIER)
    joined = a.join(b)
    assert [b.kind for b in joined] == [Kind.LABELS, Kind.NUMBERS, Kind.IDENTIFIER]
    assert [b.name for b in joined.counted] == ["x", "y"]
    assert joined.columns == a.columns


def test_the_order_of_columns_may_differ_and_the_first_stays():
    a, b = schema(x=Kind.LABELS, y=Kind.NUMBERS), schema(y=Kind.NUMBERS, x=Kind.LABELS)
    assert a.join(b).columns == ("x", "y")
    assert [block.name for block in a.join(b)] == ["x", "y"]


def test_only_empty_columns_and_identifiers_are_not_counted():
    assert {kind for kind in Kind if not kind.is_counted} == {Kind.EMPTY, Kind.IDENTIFIER}


def test_it_prints_as_an_aligned_table():
    text = str(schema(outlook=Kind.LABELS, id=Kind.IDENTIFIER).with_families({"outlook": "cat"}))
    assert text.splitlines() == [
        "column   kind        family  why",
        "outlook  labels      cat     because",
        "id       identifier  –       because",
    ]


def test_a_block_of_many_columns_prints_short():
    columns = tuple(f"w{i}" for i in range(1200))
    wide = Schema(columns, (block(Kind.COUNTS, ", ".join(columns), columns),))
    assert "w0 … w1199 (1,200 columns)  counts" in str(wide)
    assert block(Kind.COUNTS, "p, q", ("p", "q")).title == "p, q"


def test_it_comes_back_from_json():
    a = Schema(
        ("x", "é", "p", "q"),
        (
            block(Kind.EMPTY, why="all missing"),
            block(Kind.LABELS, "é"),
            block(Kind.COUNTS, "p, q", ("p", "q")),
        ),
        named=False,
    )
    assert Schema.from_dict(json.loads(json.dumps(a.to_dict()))) == a


def test_it_is_looked_up_by_name():
    assert schema(x=Kind.LABELS, y=Kind.NUMBERS)["y"].kind is Kind.NUMBERS
    with pytest.raises(KeyError, match="z"):
        schema(x=Kind.LABELS)["z"]
