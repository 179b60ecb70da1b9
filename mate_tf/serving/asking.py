"""Asks a model questions about prepared tables: whole tables in windows, or the part that fits."""

import dataclasses
from collections.abc import Collection, Generator, Sequence, Set
from typing import TypeGuard

import numpy as np

from mate_tf.answers import asked, asked_columns, beyond, cells, computed, left_out
from mate_tf.answers.derived import kinds
from mate_tf.answers.execution import AVERAGE, NONE, SUM
from mate_tf.answers.meaning import Meaning
from mate_tf.answers.programs import Program
from mate_tf.errors import InputError
from mate_tf.evaluation import associations, unanswerable
from mate_tf.evaluation.calibration import Calibration
from mate_tf.serving import answer_notes, confidence, names, selections, whole
from mate_tf.serving.answer import Answer, check_previous, from_cells, from_class, from_derived
from mate_tf.serving.prepared import PreparedTable
from mate_tf.serving.read_part import ReadPart, described
from mate_tf.tables import linearize
from mate_tf.tables.columns import Kind

WHOLE = "whole"
"""Value of `Predictor(reading=...)` that reads every table as a whole."""

_BATCHES = 8  # batches of examples that are held at a time

_Steps = Generator[list[ReadPart], list[dict[str, np.ndarray]], Answer | None]


def options_of(reading: str | dict[str, bool] | None) -> dict[str, bool] | None:
    """Returns the options of `ConversionConfig.reading` for a value of `Predictor(reading=...)`.

    Raises:
        InputError: if it is neither "whole" nor a dict.
    """
    if reading is None or isinstance(reading, dict):
        return reading
    if reading != WHOLE:
        raise InputError(f"reading={reading!r} is neither {WHOLE!r} nor a dict of options")
    return None


class Asking:
    """Asks one model.

    Args:
        model: a `ServedModel` or `EngineServed`.
        calibration: of its answers; None: without.
        batch_size: examples that it computes at a time.
        reads_whole: tables that do not fit are read in windows. Otherwise a part of them is read.
    """

    def __init__(
        self,
        model,
        calibration: Calibration | None,
        batch_size: int = 16,
        reads_whole: bool = False,
    ):
        self._model, self._calibration = model, calibration
        self._batch_size, self._reads_whole = batch_size, reads_whole
        self._marks_previous = model.converter.config.mark_previous

    def answers(
        self, pairs: Sequence[tuple[PreparedTable, str]], previous: Sequence[Answer | None]
    ) -> list[Answer]:
        """Answers (table, question) pairs, each with the answer before it or None.

        The parts of all tables that are read are computed together, a few batches at a time.
        """
        self._check(previous, len(pairs))
        answered, waiting = [], []
        for pair, before in zip(pairs, previous, strict=True):
            steps = self._steps(*pair, before)
            waiting.append((steps, next(steps)))
            if sum(len(parts) for _, parts in waiting) >= _BATCHES * self._batch_size:
                answered += self._finished(waiting)
                waiting = []
        return answered + self._finished(waiting)

    def _check(self, previous: Sequence[Answer | None], number: int) -> None:
        size = self._batch_size
        if not isinstance(size, int) or size < 1:
            raise InputError(f"batch_size is {size!r}, expected an integer of 1 or more")
        if not isinstance(previous, list | tuple) or len(previous) != number:
            raise InputError("previous: expected an answer or None for each question")
        for each in previous:
            check_previous(each)

    def _steps(self, prepared: PreparedTable, question: str, previous: Answer | None) -> _Steps:
        """Yields the parts of a table to compute; is sent their outputs, and returns the answer."""
        answer = None
        # Programs do not know the answer before, and their confidence is not fitted to such models.
        by_programs = not (self._model.class_names or self._marks_previous)
        if self._reads_whole and by_programs:
            answer = yield from self._whole(prepared, question, previous)
        if answer is None:
            part, cuts = self.convert(prepared, question, previous)
            (outputs,) = yield [part]
            before = previous.rows if self._refers(previous) else set()
            outputs = part.outputs(outputs)
            answer = self._answer((prepared, question), outputs, cuts, part, before)
        lacking = previous is not None and not self._refers(previous)
        if note := answer_notes.describe_reference(question) if lacking else "":
            answer = dataclasses.replace(answer, answerable=False, notes=(note, *answer.notes))
        return answer

    def _finished(self, waiting: list[tuple[_Steps, list[ReadPart]]]) -> list[Answer]:
        """Returns the answers of steps that wait for the outputs of their parts."""
        outputs = iter(self._outputs([part for _, parts in waiting for part in parts]))
        answers = []
        for steps, parts in waiting:
            try:
                steps.send([next(outputs) for _ in parts])
            except StopIteration as end:
                answers.append(end.value)
        return answers

    def convert(
        self, prepared: PreparedTable, question: str, previous: Answer | None
    ) -> tuple[ReadPart, list[str]]:
        """Returns what is read of a table for a question, and descriptions of what is not."""
        check_previous(previous)
        conversion = self._converted(prepared, question, previous)
        part = ReadPart(conversion, (prepared.table.num_rows, prepared.table.num_columns))
        cuts = [*filter(None, [prepared.table.unread]), *part.notes(), *prepared.unknown_words]
        if self._refers(previous):
            cuts += part.mark_previous(previous.coordinates, self._marks_previous)
        return part, cuts

    def _converted(self, prepared: PreparedTable, question: str, previous: Answer | None):
        """Converts a table, or the part that fits: first the rows of the previous answer.

        Only models with `mark_previous` know these by their own marks; for others the part does not
        depend on the previous answer.
        """
        interaction, converter = prepared.interaction(question), self._model.converter
        if previous is not None and self._marks_previous:
            windows = converter.windows(interaction, 0)
            if len(windows.rows) > 1:
                before = [row for row in previous.rows if row < prepared.table.num_rows]
                order = dict.fromkeys([*sorted(before), *windows.ranking.rows.tolist()])
                conversion = windows.convert(np.sort(windows.divide(np.array([*order]))[0]))
                shape = prepared.table.num_rows, prepared.table.num_columns
                return dataclasses.replace(
                    conversion, cuts=(*_dropped(conversion, shape), *conversion.cuts)
                )
        return converter.conversion(interaction, 0)

    def _refers(self, previous: Answer | None) -> TypeGuard[Answer]:
        # With `mark_matches` alone the same feature has the marks of shared words: such a model was
        # never told previous answers.
        config = self._model.converter.config
        return previous is not None and (config.mark_previous or not config.mark_matches)

    def _outputs(self, parts: Sequence[ReadPart]) -> list[dict[str, np.ndarray]]:
        """Computes the outputs for each example, those of similar lengths together."""
        order = sorted(range(len(parts)), key=lambda index: parts[index].num_tokens)
        outputs = {}
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            computed = self._model.compute([parts[index] for index in batch])
            outputs.update(zip(batch, computed, strict=True))
        return [outputs[index] for index in range(len(parts))]

    def _whole(self, prepared: PreparedTable, question: str, previous: Answer | None) -> _Steps:
        """Yields as `_steps`, of a table that is too long by cells; returns None if it is not."""
        table, sheet = prepared.table, prepared.sheet
        meaning = Meaning(sheet, question)
        interaction = prepared.interaction(question)
        needed = np.zeros(table.num_columns, bool)
        needed[sorted(meaning.columns)] = True
        windows = self._model.converter.windows(interaction, 0, needed)
        computes = self._calibration is not None and self._calibration.computes
        if len(windows.rows) < (1 if computes else 2):
            return None
        found = kinds.find(sheet, meaning) if computes and not self._refers(previous) else None
        if found is not None:
            yield []
            return from_derived(prepared, found)
        shape = table.num_rows, table.num_columns
        before = [row for row, _ in previous.coordinates] if self._refers(previous) else []
        order = selections.order_of_windows(
            windows.rows, self._model.converter.max_seq_length, windows.ranking, before
        )
        conversions = [windows.convert(windows.rows[each]) for each in order]
        if len(windows.rows) > 1:  # the rows with most words of the question
            best = windows.divide(windows.ranking.rows)[0]
            conversions.append(windows.convert(np.sort(best)))
        parts = [ReadPart(each, shape) for each in conversions]
        if self._refers(previous):
            for part in parts:
                part.mark_previous(previous.coordinates, self._marks_previous)
        outputs = yield parts
        direct = self._direct(prepared, question, meaning, parts[-1], outputs[-1])
        judged = [
            (output, self._has_answer(output, question, table, part.rows))
            for part, output in zip(parts, outputs, strict=True)
        ]
        number = len(conversions) - (len(windows.rows) > 1)
        read = selections.join(conversions[:number], judged[:number], shape)
        joined, *_ = whole.Joining(sheet, meaning, read, direct).answers()
        cuts = [*filter(None, [table.unread]), *prepared.unknown_words]
        if len(windows.columns) < table.num_columns:
            cut = linearize.Cut(linearize.COLUMNS, table.num_columns - len(windows.columns))
            cuts.append(described(cut, windows.columns, table.num_columns))
        cuts += map(str, read.cuts)
        answer = from_cells(prepared, joined.outputs(shape), cuts)
        if joined.operation == NONE and sheet.columns[joined.column].kind is not Kind.NUMBER:
            text = computed.joined(cell.text for cell in answer.cells)
            answer = dataclasses.replace(answer, text=text)
        problem = beyond.problem(sheet, meaning)
        program = Program() if joined.explanation is None else joined.explanation.program
        problem = problem or left_out.in_program(sheet, meaning, program)
        problem = problem or cells.problem(
            *(sheet, meaning, program, joined.rows, joined.column),
            *(joined.operation, joined.num_distinct_of),
        )
        operation = joined.operation
        return self._judged(
            prepared,
            question,
            dataclasses.replace(
                answer,
                notes=(*filter(None, [problem]), whole.note(joined, direct, sheet), *answer.notes),
                answerable=answer.answerable and not problem,
            ),
            joined.probability,
            aggregates=True,  # programs do, whatever heads the model has
            explained=program.said
            | sheet.title_words
            | cells.unimportant(sheet, question, program, joined.column, operation),
            says_cells=bool(meaning.texts_of(program)),
            is_ordered=meaning.names_order(program),
            computed_of=None if joined.explanation is None else joined.explanation.program.columns,
        )

    def _direct(self, prepared, question, meaning, part, outputs) -> whole.Direct | None:
        """Returns what the model selects in the part of a table that fits.

        None for what a part does not tell: operations, orders, and lists.
        """
        read = part.outputs(outputs)
        rows, columns = np.nonzero(read["selected"])
        answer = from_cells(prepared, read)
        is_part = len(part.rows) < prepared.table.num_rows
        is_look_up = answer.aggregation == NONE and not meaning.orders and len(rows) == 1
        is_look_up = is_look_up and not cells.asks_for_several(question)
        if not len(rows) or (is_part and not is_look_up):
            return None
        raw, sure = confidence.score(answer.probability, read), 0.5
        if self._calibration is not None:
            known = self._calibration.associations
            shared = associations.share_of_words(question, prepared.words, known)
            sure = float(self._calibration.confidence(raw, shared))
        return whole.Direct(rows, int(columns[0]), answer.aggregation, sure, len(part.rows))

    def _has_answer(self, outputs, question: str, table, rows: np.ndarray) -> float:
        """Returns the probability that some rows of a table have a part of the answer."""
        if self._calibration is None:
            return 1.0
        words = unanswerable.words_of([table.columns, *(table.rows[row] for row in rows)])
        shared = associations.share_of_words(question, words, self._calibration.associations)
        raw = confidence.score(float(outputs["probability"]), outputs)
        return float(self._calibration.has_answer(raw, shared))

    def _answer(self, pair, outputs, cuts, part: ReadPart, before: set[int]) -> Answer:
        """Returns the answer to a (table, question) pair, with its confidence and notes.

        `before` has the rows of the answer that the question may refer to.
        """
        prepared, question = pair
        if "class_probabilities" in outputs:
            answer = from_class(outputs["class_probabilities"], self._model.class_names, cuts)
        else:
            answer = from_cells(prepared, outputs, cuts)
        raw = confidence.score(answer.probability, outputs)
        classes = self._model.class_names if "class_probabilities" in outputs else None
        if not before <= set(part.rows.tolist()):
            note = "rows of the answer before are not read"
            answer = dataclasses.replace(answer, answerable=False, notes=(note, *answer.notes))
        about = {cell.row for cell in answer.cells}
        is_within = bool(about) and about <= before
        if not is_within and _needs_all(prepared, question, answer, part):
            read = f"{len(part.rows):,} of {prepared.table.num_rows:,} rows"
            if len(part.columns) < prepared.table.num_columns:
                read += f" and {len(part.columns)} of {prepared.table.num_columns} columns"
            note = f"computed over {read} only"
            answer = dataclasses.replace(answer, answerable=False, notes=(note, *answer.notes))
        columns = {cell.column for cell in answer.cells}
        misread = asked_columns.other_column(prepared.sheet, question, columns)
        if misread:
            answer = dataclasses.replace(answer, answerable=False, notes=(misread, *answer.notes))
        aggregates = "aggregation_probabilities" in outputs
        return self._judged(prepared, question, answer, raw, aggregates, classes)

    def _judged(
        self,
        prepared: PreparedTable,
        question: str,
        answer: Answer,
        raw: float,
        aggregates: bool,
        classes: Sequence[str] | None = None,
        explained: Set[str] | None = None,
        says_cells: bool = False,
        is_ordered: bool = False,
        computed_of: Collection[int] | None = None,
    ) -> Answer:
        """Returns an answer with its confidence, whether it is one, and notes.

        `explained` has the words that a program is made of; None: the answer is not computed.
        `says_cells` tells that the question says cells of the rows that a program takes, and
        `is_ordered` that it names the column that orders them.
        `computed_of` has the columns that decide which rows a program takes; None: there is none.
        """
        table, calibration = prepared.table, self._calibration
        is_computed = explained is not None
        remarks = answer_notes.describe_limits(question, table.columns, aggregates, classes)
        known = calibration.associations if calibration is not None else None
        columns = {cell.column for cell in answer.cells}
        with_asked = is_computed and answer.aggregation == NONE
        # "Which vendor" does not name the rows if the question says which row it is about.
        keys = [column for column in columns if prepared.sheet.is_key(column)]
        has_codes = not is_ordered and all(map(prepared.sheet.has_codes, keys))
        with_asked &= says_cells or not keys or has_codes
        known_words = prepared.words | (explained or frozenset())
        unknown = names.unknown(question, known_words, known, with_asked)
        unknown = [] if classes is not None else unknown
        if classes is None and (computed_of is not None or answer.aggregation == NONE):
            used = range(table.num_columns) if computed_of is None else computed_of
            remarks += answer_notes.describe_order(
                question,
                [table.columns[column] for column in used],
                [prepared.columns[column] for column in used],
                prepared.totals if answer.aggregation == NONE else (),
            )
        if unknown:
            remarks.append(f"not found in the table: {', '.join(map(repr, unknown))}")
        is_statement = classes is None or not remarks
        sure, answerable = None, answer.answerable and bool(answer.text) and is_statement
        if calibration is not None:
            ignored = asked.OF_ROWS if is_computed else frozenset()
            shared = associations.share_of_words(
                question, known_words, calibration.associations, ignored
            )
            lacking = min(len(unknown), names.MOST)
            if is_computed:
                sure = float(calibration.of_computed(raw, lacking))
            else:
                sure = float(calibration.confidence(raw, shared, lacking))
            has_answer = float(calibration.has_answer(raw, shared, lacking))
            answerable &= has_answer >= calibration.threshold
            # A program of the other words answers another question.
            answerable &= not (is_computed and lacking and sure < answer_notes.UNSURE)
        return dataclasses.replace(
            answer,
            confidence=sure,
            answerable=answerable,
            notes=tuple(dict.fromkeys([*remarks, *answer.notes, *table.remarks])),
            table=table,
        )


def _needs_all(prepared: PreparedTable, question: str, answer: Answer, part: ReadPart) -> bool:
    """Returns whether rows or columns are lacking that an operation, an order or a list needs."""
    table = prepared.table
    meaning = Meaning(prepared.sheet, question)
    lacks_rows = len(part.rows) < table.num_rows
    if not lacks_rows and not meaning.columns - set(part.columns.tolist()):
        return False
    wanted = asked.operation(question, table.columns, prepared.columns)
    if answer.aggregation != NONE or meaning.orders or wanted in (SUM, AVERAGE):
        return True
    # One cell may be looked up in a part; a list of them may lack some.
    return len(answer.cells) > 1 or (not answer.cells and wanted is not None)


def _dropped(conversion, shape: tuple[int, int]) -> list[linearize.Cut]:
    """Returns what a window lacks of a table's rows and columns."""
    lacking = {
        linearize.ROWS: shape[0] - len(conversion.rows),
        linearize.COLUMNS: shape[1] - len(conversion.columns),
    }
    return [linearize.Cut(kind, count) for kind, count in lacking.items() if count]
