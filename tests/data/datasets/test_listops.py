"""ListOps: generator, evaluator and the official file format."""

import collections
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.data.converters import sequences
from mate_tf.data.datasets import listops
from mate_tf.errors import InputError

SHORT = listops.Rules(max_depth=4, max_args=5, min_length=3, max_length=40)


def value_of_source(source):
    """The value of a binary tree with parentheses, by applying functions one argument at a time.
    Independent of the code: it never sees the flat form."""
    tokens = source.split()

    def read():
        token = tokens.pop(0)
        if token != "(":
            return int(token) if token.isdigit() else (token, ())
        function, argument = read(), read()
        assert tokens.pop(0) == ")"
        operator, arguments = function
        if argument != ("]", ()):
            return operator, (*arguments, argument)
        ordered, middle = sorted(arguments), len(arguments) // 2
        return {
            "[MIN": ordered[0],
            "[MAX": ordered[-1],
            "[MED": (ordered[middle] + ordered[~middle]) // 2,
            "[SM": sum(arguments) % 10,
        }[operator]

    value = read()
    assert not tokens
    return value


def expressions(depth=3):
    """Nested tuples (operator, arguments) or digits."""
    return st.recursive(
        st.integers(0, 9),
        lambda inner: st.tuples(
            st.sampled_from(sorted(listops.OPERATORS)), st.lists(inner, min_size=2, max_size=6)
        ),
        max_leaves=30,
    )


def flat(expression):
    if isinstance(expression, int):
        return [str(expression)]
    operator, arguments = expression
    return [operator, *(symbol for each in arguments for symbol in flat(each)), "X"]


def nested(expression):
    """The binary tree as the official generator nests it: ((((op a) b) ...) ])."""
    if isinstance(expression, int):
        return str(expression)
    text = expression[0]
    for argument in (*map(nested, expression[1]), "]"):
        text = f"( {text} {argument} )"
    return text


@given(expressions())
def test_value_and_binary_tree(expression):
    symbols = flat(expression)
    source = listops.to_source(symbols)
    assert source == nested(expression)
    assert listops.from_source(source) == tuple(symbols)
    assert listops.evaluate(symbols) == value_of_source(source)


def test_values_by_hand():
    def value(text):
        return listops.evaluate(text.split())

    assert value("7") == 7
    assert value("[MED 1 2 X") == 1  # 1.5 without its fraction
    assert value("[MED 9 1 4 X") == 4
    assert value("[SM 9 8 5 X") == 2
    assert value("[MAX 2 [SM 7 8 X X") == 5
    assert value("[MIN [MAX 3 4 X 9 [MED 0 5 6 8 X X") == 4


@pytest.mark.parametrize("text", ["", "X", "1 2", "[MAX X", "[MAX 1 2", "[MAX 1 X X", "[OR 1 X"])
def test_no_expression(text):
    with pytest.raises(InputError, match=r"not allowed here|not one expression"):
        listops.evaluate(text.split())


@given(
    seed=st.integers(0, 99),
    max_depth=st.integers(2, 5),
    max_args=st.integers(2, 6),
    min_length=st.integers(0, 3),
    room=st.integers(10, 60),
)
def test_generated_expressions_keep_the_rules(seed, max_depth, max_args, min_length, room):
    rules = listops.Rules(max_depth, max_args, min_length, min_length + room)
    found = list(itertools.islice(listops.generate(seed, rules), 10))
    assert len(set(found)) == 10
    assert found == list(itertools.islice(listops.generate(seed, rules), 10))
    for symbols in found:
        assert min_length < len(symbols) < min_length + room
        assert 0 <= listops.evaluate(symbols) <= 9
        depth = counts = 0
        open_counts = []
        for symbol in symbols:
            if symbol == "X":
                counts = open_counts.pop()
                assert 2 <= counts <= max_args
            if symbol.startswith("["):
                open_counts.append(0)
                depth = max(depth, len(open_counts))
            elif open_counts:
                open_counts[-1] += 1
        assert depth < max_depth


def test_distribution_of_what_is_drawn():
    """Without a bound on the length: operators and numbers of arguments are uniform, a quarter of
    the nodes above the last level are operators."""
    rules = listops.Rules(max_depth=2, max_args=5, min_length=0, max_length=1000)
    roots = collections.Counter()
    arguments = collections.Counter()
    found = list(itertools.islice(listops.generate(3, rules), 4000))
    for symbols in found:
        if len(symbols) > 1:
            roots[symbols[0]] += 1
            arguments[len(symbols) - 2] += 1
    assert sum(len(symbols) == 1 for symbols in found) == 10  # no value twice
    assert set(roots) == set(listops.OPERATORS)
    assert all(abs(count / 3990 - 1 / 4) < 0.04 for count in roots.values())
    # Short expressions run out, as none comes twice: [OP a b X has 400 forms.
    assert arguments[2] <= 400
    assert abs(arguments[4] - arguments[5]) < 0.15 * arguments[5]
    values = collections.Counter(symbol for symbols in found for symbol in symbols[1:-1])
    assert all(abs(count / sum(values.values()) - 0.1) < 0.01 for count in values.values())


def test_share_of_operators():
    """Of the children of the root of a tree of depth 3, three quarters are values."""
    rules = listops.Rules(max_depth=3, max_args=10, min_length=1, max_length=10_000)
    children = collections.Counter()
    for symbols in itertools.islice(listops.generate(0, rules), 1500):
        depth = 0
        for symbol in symbols:
            depth -= symbol == "X"
            if depth == 1 and symbol != "X":
                children[symbol.startswith("[")] += 1
            depth += symbol.startswith("[")
    assert abs(children[True] / children.total() - 0.25) < 0.02


def test_official_rules():
    assert listops.Rules(10, 10, 500, 2000) == listops.OFFICIAL
    assert len(listops.SYMBOLS) == 15
    for symbols in itertools.islice(listops.generate(0), 5):
        assert 500 < len(symbols) < 2000


def test_rules_without_expressions():
    for rules in ({"max_args": 1}, {"max_depth": 0}, {"min_length": 5, "max_length": 6}):
        with pytest.raises(InputError, match="no ListOps expression follows these rules"):
            listops.Rules(**rules)
    few = listops.generate(0, listops.Rules(1, 2, 0, 2))
    with pytest.raises(InputError, match="found only 10 ListOps"):
        list(few)


SIZES = {"train": 7, "dev": 3, "test": 2}


def test_official_files_and_back(tmp_path):
    listops.write_dir(tmp_path / "a", 5, SIZES, SHORT)
    listops.write_dir(tmp_path / "b", 5, SIZES, SHORT)
    drawn = list(itertools.islice(listops.generate(5, SHORT), 12))
    for split, name in (("train", "train"), ("dev", "val"), ("test", "test")):
        content = (tmp_path / "a" / f"basic_{name}.tsv").read_bytes()
        assert content == (tmp_path / "b" / f"basic_{name}.tsv").read_bytes()
        header, *lines, end = content.decode().split("\r\n")
        assert (header, end) == ("Source\tTarget", "")
        expected, drawn = drawn[: SIZES[split]], drawn[SIZES[split] :]
        for line, symbols in zip(lines, expected, strict=True):
            source, target = line.split("\t")
            assert value_of_source(source) == int(target)
            assert listops.from_source(source) == symbols
        read = list(listops.read(tmp_path / "a", split))
        questions = [question for interaction in read for question in interaction.questions]
        assert [sequences.texts(each) for each in questions] == [[" ".join(s)] for s in expected]
        assert [each.answer.class_index for each in questions] == [
            listops.evaluate(symbols) for symbols in expected
        ]
        assert questions[0].id == f"listops_{split}_0-0_0"
    listops.write_dir(tmp_path / "b", 6, SIZES, SHORT)
    assert (tmp_path / "a" / "basic_test.tsv").read_bytes() != (
        tmp_path / "b" / "basic_test.tsv"
    ).read_bytes()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "Source\tTarget\n( ( ( [MOX 2 ) 9 ) ] )\t9\n",
            r"line 2: '\[MOX' is not a symbol of ListOps",
        ),
        ("Source\tTarget\n3\t3\n \t9\n", "line 3: '' is not a symbol"),
        ("Source\tTarget\n3\t10\n", "line 2: Target is '10', expected one of 0, 1"),
        ("Source\tTarget\n3\n", "line 2: has 1 cells separated by tabs, expected 2"),
        ("Source\n3\n", r"line 1: the header lacks the column\(s\) Target"),
        ("Source\tTarget\n", "has no rows"),
        ("", "line 1: the header lacks"),
    ],
)
def test_malformed_files_name_file_and_line(tmp_path, content, message):
    (tmp_path / "basic_val.tsv").write_text(content)
    with pytest.raises(InputError, match=rf"basic_val\.tsv:? ?{message}"):
        list(listops.read(tmp_path, "dev"))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(InputError, match=r"basic_train\.tsv: no such file"):
        list(listops.read(tmp_path, "train"))
    with pytest.raises(InputError, match="ListOps has no split 'val', only train, dev, test"):
        list(listops.read(tmp_path, "val"))
    (tmp_path / "basic_test.tsv").write_bytes(b"Source\tTarget\n3\t3\n\xff\t3\n")
    with pytest.raises(InputError, match=r"basic_test\.tsv line 3: not valid UTF-8"):
        list(listops.read(tmp_path, "test"))
