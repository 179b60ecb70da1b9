"""Which tokens of a question and a table make it into a sequence."""

import collections
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mate_tf.tables import linearize
from mate_tf.tables.conversion import ConversionConfig

CLS, SEP = 101, 102


def make_table(rows):
    """rows[row][column] is a list of words, a word a number of pieces; ids count the tokens."""
    cells = [cell for row in rows for cell in row]
    starts = [place == 0 for cell in cells for pieces in cell for place in range(pieces)]
    splits = np.cumsum([0] + [sum(cell) for cell in cells])
    ids = np.arange(1000, 1000 + len(starts), dtype=np.int32)
    return linearize.TokenizedTable(ids, splits, np.array(starts, bool), len(rows[0]))


def run(question_words, rows, **limits):
    starts = np.array([place == 0 for pieces in question_words for place in range(pieces)], bool)
    ids = np.arange(len(starts), dtype=np.int32)
    return linearize.linearize(
        ids, starts, make_table(rows), ConversionConfig(**limits), cls_id=CLS, sep_id=SEP
    )


def expected_cells(rows, num_columns, num_rows, length):
    """(row, column, words kept) by the definition: words that begin among the first n tokens."""
    kept = []
    for row in range(num_rows + 1):
        for column in range(num_columns):
            begin, words = 0, []
            for pieces in rows[row][column]:
                if begin < length:
                    words.append(pieces)
                begin += pieces
            kept.append((row, column + 1, words))
    return kept


def cost(*arguments):
    return sum(sum(words) for _, _, words in expected_cells(*arguments))


def brute_force(rows, budget, cell_trim_length, drop_rows, drop_columns):
    """Columns, rows and tokens per cell as the rules say, tried out one by one; or None."""
    num_rows, num_columns = len(rows) - 1, len(rows[0])
    needed = 1 if cell_trim_length < 0 else cell_trim_length
    while drop_columns and cost(rows, num_columns, min(num_rows, 1), needed) > budget:
        num_columns -= 1
    while cost(rows, num_columns, num_rows, needed) > budget:
        if not drop_rows or num_rows == 0:
            return None
        num_rows -= 1
    length = cell_trim_length
    if length < 0:
        longest = max(sum(cell) for row in rows for cell in row)
        length = max(
            n for n in range(longest + 1) if cost(rows, num_columns, num_rows, n) <= budget
        )
    return num_columns, num_rows, length


cell = st.lists(st.integers(1, 4), min_size=1, max_size=4)


@st.composite
def tables(draw):
    columns = draw(st.integers(1, 4))
    row = st.lists(cell, min_size=columns, max_size=columns)
    return draw(st.lists(row, min_size=1, max_size=6))


@given(
    rows=tables(),
    question=st.lists(st.integers(1, 3), max_size=4),
    max_length=st.integers(14, 80),
    trim=st.integers(-1, 5),
    drop_rows=st.booleans(),
    drop_columns=st.booleans(),
)
def test_keeps_what_the_rules_say(rows, question, max_length, trim, drop_rows, drop_columns):
    limits = {
        "max_seq_length": max_length,
        "cell_trim_length": trim,
        "drop_rows_to_fit": drop_rows,
        "drop_columns_to_fit": drop_columns,
    }
    first = 2 + sum(question)
    expected = brute_force(rows, max_length - first, trim, drop_rows, drop_columns)
    if expected is None:
        with pytest.raises(linearize.ConversionError, match=linearize.TOO_LONG):
            run(question, rows, **limits)
        return
    sequence = run(question, rows, **limits)
    num_columns, num_rows, length = expected
    tokens = [
        (row, column)
        for row, column, words in expected_cells(rows, num_columns, num_rows, length)
        for _ in range(sum(words))
    ]
    assert list(zip(sequence.row_ids[first:], sequence.column_ids[first:], strict=True)) == tokens
    assert sequence.first_table_token == first
    assert sequence.segment_ids.tolist() == [0] * first + [1] * len(tokens)
    assert not sequence.row_ids[:first].any()
    assert not sequence.column_ids[:first].any()
    assert sequence.input_ids[0] == CLS
    assert sequence.input_ids[first - 1] == SEP
    table = make_table(rows)
    assert (table.ids[sequence.table_tokens] == sequence.input_ids[first:]).all()
    shortened = sum(
        words != rows[row][column - 1]
        for row, column, words in expected_cells(rows, num_columns, num_rows, length)
    )
    assert dict(sequence.cuts) == {
        kind: count
        for kind, count in (
            ("columns", len(rows[0]) - num_columns),
            ("rows", len(rows) - 1 - num_rows),
            ("cells", shortened),
        )
        if count
    }


@given(
    rows=tables(), question=st.lists(st.integers(1, 5), max_size=30), max_length=st.integers(8, 60)
)
def test_always_fits_if_everything_may_be_cut(rows, question, max_length):
    sequence = run(
        question,
        rows,
        max_seq_length=max_length,
        drop_rows_to_fit=True,
        drop_columns_to_fit=True,
        trim_question_to_fit=True,
    )
    assert len(sequence.input_ids) <= max_length
    left = sequence.first_table_token - 2
    assert left in np.cumsum([0, *question])
    cut = dict(sequence.cuts).get("question tokens", 0)
    assert left + cut == sum(question)
    if cut:
        # The next word would go beyond half of the sequence and push out the first row.
        following = next(n for n in np.cumsum([0, *question]) if n > left) + 2
        assert following > max_length // 2
        assert following + cost(rows, len(rows[0]), min(1, len(rows) - 1), 1) > max_length


def filled(rows, budget):
    """Words kept by the definition: by position, then by length of the cell, until one is left."""
    words = []
    for number, cell in enumerate(cell for row in rows for cell in row):
        begins = np.cumsum([0, *cell[:-1]]).tolist()
        words += [
            (begin, -sum(cell), number, size) for begin, size in zip(begins, cell, strict=True)
        ]
    kept = collections.Counter()
    for _, _, number, size in sorted(words):
        if size > budget:
            break
        budget -= size
        kept[number] += size
    return kept, words


@given(rows=tables(), max_length=st.integers(20, 80))
def test_filled_cells(rows, max_length):
    plain = run([1], rows, max_seq_length=max_length, drop_rows_to_fit=True)
    sequence = run([1], rows, max_seq_length=max_length, drop_rows_to_fit=True, fill_cells=True)
    rows = [rows[0], *(rows[1 + row] for row in sequence.rows)]
    kept, words = filled(rows, max_length - 3)
    cells = sequence.row_ids[3:] * len(rows[0]) + sequence.column_ids[3:] - 1
    assert collections.Counter(cells.tolist()) == kept
    # The same rows, and all that the common length keeps.
    assert sequence.rows.tolist() == plain.rows.tolist()
    assert set(plain.table_tokens) <= set(sequence.table_tokens)
    # What is left of the budget holds less than one more word.
    if sum(kept.values()) < sum(size for *_, size in words):
        assert max_length - len(sequence.input_ids) < max(size for *_, size in words)


def test_all_fits():
    sequence = run([1, 2], [[[1], [2]], [[1, 1], [1]]])
    assert sequence.input_ids.tolist() == [CLS, 0, 1, 2, SEP, 1000, 1001, 1002, 1003, 1004, 1005]
    assert sequence.column_ids.tolist() == [0] * 5 + [1, 2, 2, 1, 1, 2]
    assert sequence.row_ids.tolist() == [0] * 5 + [0, 0, 0, 1, 1, 1]
    assert sequence.cuts == ()


def test_selected_tokens_only():
    table = make_table([[[1], [1]], [[1, 1], [1]]])
    selected = np.array([True, False, True, True, False])
    none = np.array([], np.int32)
    sequence = linearize.linearize(
        none, none, table, ConversionConfig(), cls_id=CLS, sep_id=SEP, selected=selected
    )
    assert sequence.input_ids.tolist() == [CLS, SEP, 1000, 1002, 1003]
    assert sequence.cuts == ()


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"max_row_id": 3}, linearize.TOO_MANY_ROWS),
        ({"max_column_id": 2}, linearize.TOO_MANY_COLUMNS),
        ({"max_row_id": 3, "max_column_id": 2}, linearize.TOO_MANY_ROWS),
        ({"max_seq_length": 9}, linearize.TOO_LONG),
        ({"max_seq_length": 2}, linearize.TOO_LONG),
    ],
)
def test_reasons(limits, reason):
    rows = [[[1], [1]]] * 4
    with pytest.raises(linearize.ConversionError, match=reason) as raised:
        run([1], rows, **limits)
    assert raised.value.reason == reason
    assert raised.value.detail in str(raised.value)


def test_rows_and_columns_beyond_the_ids_are_dropped_if_allowed():
    rows = [[[1], [1], [1]]] * 6
    limits = {"max_row_id": 4, "max_column_id": 3}
    sequence = run([1], rows, drop_rows_to_fit=True, drop_columns_to_fit=True, **limits)
    assert sequence.row_ids.max() == 3
    assert sequence.column_ids.max() == 2
    assert dict(sequence.cuts) == {"columns": 1, "rows": 2}


def test_cuts_read_as_sentences():
    assert str(linearize.Cut("rows", 3)) == "3 rows dropped"
    assert str(linearize.Cut("cells", 2)) == "2 cells shortened"


def test_error_survives_another_process():
    error = linearize.ConversionError("Too long", "5 of 4", "question q-0_0")
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "question q-0_0: Too long: 5 of 4"
    assert (copy.reason, copy.detail) == ("Too long", "5 of 4")


def test_does_not_import_tensorflow(project):
    code = "import sys, mate_tf.tables.linearize; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=project).returncode == 0
