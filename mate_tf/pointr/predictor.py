"""`PointrPredictor`: answers questions with the two models of POINTR."""

import dataclasses
import os
from collections.abc import Mapping, Sequence

import numpy as np

from mate_tf.data import interactions
from mate_tf.data.converters import expansion
from mate_tf.data.converters.offsets import Offsets
from mate_tf.data.datasets import hybridqa_rc
from mate_tf.errors import InputError
from mate_tf.evaluation import calibration
from mate_tf.files.atomic import write_json
from mate_tf.files.json_files import read_json_object
from mate_tf.pointr import prediction
from mate_tf.pointr.answer import PointrAnswer, ranked
from mate_tf.pointr.readings import Reading, choose, span_in_text
from mate_tf.protos import annotated_text_pb2, interaction_pb2
from mate_tf.serving import forks, loaded, prepared, presets, saving
from mate_tf.serving import source as sources
from mate_tf.serving.asking import WHOLE, options_of
from mate_tf.serving.read_part import ReadPart
from mate_tf.tables import cell_texts
from mate_tf.tables.given import as_table
from mate_tf.tables.passages import split_sentences
from mate_tf.tables.table import Table

POINT, READ = "point", "read"
SETTINGS_FILE = sources.POINTR

_BATCH = 8  # windows that are computed at a time

_LINKS = annotated_text_pb2.AnnotatedText.annotated_cell_ext
_DESCRIPTIONS = annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext


class PointrPredictor:
    """Answers questions about tables and the passages that their cells link to (MATE, section 4).

        predictor = mate_tf.PointrPredictor("out/pointr_mini/model")
        answer = predictor.ask(
            table, "where was the winner born?", links={(0, 1): ["/wiki/Ann"]},
            passages={"/wiki/Ann": "Ann was born in Basel ."},
        )

    Args:
        folder: what --task=POINTR wrote to its --model_dir or --export_dir, or `save_preset`.
        reading: as for `Predictor`; of the first stage. By default tables that do not fit are read
            in windows.
        engine: what computes both models: "openvino", on CPUs, or "tensorflow"; by default OpenVINO
            where it computes all of a model.

    Attributes:
        calibration: the `Calibration` of its answers; None if nothing was fitted.

    Raises:
        InputError: if one of the two models does not exist, or is not computed by `engine`; or the
            process was forked after a model was loaded.
    """

    _sources = hybridqa_rc.ALL  # also of exports that are older than this setting

    _reads_whole, _name, calibration = True, "", None

    def __init__(
        self,
        folder: str | os.PathLike,
        reading: str | dict[str, bool] = WHOLE,
        engine: str | None = None,
    ):
        self._name = os.fspath(folder)
        forks.check(self._name)
        self._settings = _settings(self._name)
        self._policy, self._num_cells = self._settings["policy"], self._settings["num_cells"]
        self._sources = self._settings.get("sources", self._sources)
        self._point = self._load(POINT, engine, options_of(reading))
        self._reads_whole = not isinstance(reading, dict)
        self._read = self._load(READ, engine)
        forks.note(self._name)
        self.calibration = _calibration(self._name)
        self._offsets = Offsets(self._read.converter.tokenizer)

    @classmethod
    def from_preset(cls, name: str = presets.PASSAGES, **options) -> "PointrPredictor":
        """Loads a model that comes with mate-tf.

        Args:
            name: name of the preset.
            **options: arguments of the class.

        Raises:
            InputError: there is no preset of this name, or it is not of POINTR.
        """
        return cls(presets.find(name), **options)

    def _load(self, stage: str, engine: str | None, reading: dict[str, bool] | None = None):
        """Loads the model of a stage: an export, a preset or the folder of a training run."""
        found = sources.find(os.path.join(self._name, stage))
        return loaded.load(found, reading=reading, engine=engine)

    @property
    def engine(self) -> str:
        """Names of what computes the models: "openvino", or "openvino+tensorflow" for two."""
        return self._of_stages("engine")

    def _of_stages(self, name: str) -> str:
        values = [getattr(model, name) or "" for model in (self._point, self._read)]
        return "+".join(dict.fromkeys(filter(None, values)))

    def __repr__(self) -> str:
        facts = [repr(self._name), f"num_cells={self._num_cells}", f"policy={self._policy}"]
        for name in ("engine", "precision"):
            if value := self._of_stages(name):
                facts.append(f"{name}={value}")
        return f"PointrPredictor({', '.join(facts)})"

    def save_preset(
        self, folder: str | os.PathLike, license: str = "unknown", dtype: str | None = None
    ) -> None:
        """Writes a folder that this class reads: both models and the settings.

        Args:
            folder: a local folder. Each model gets a folder in it.
            license, dtype: as for `Predictor.save_preset`.

        Raises:
            InputError: as `Predictor.save_preset`.
        """
        folder = os.fspath(folder)
        for stage, model in ((POINT, self._point), (READ, self._read)):
            source = sources.find(os.path.join(self._name, stage))
            trained = saving.TrainedModel(source.name, model, None, source)
            saving.preset(trained, os.path.join(folder, stage), license, dtype)
        write_json(os.path.join(folder, SETTINGS_FILE), self._settings)
        if self.calibration is not None:
            content = dataclasses.asdict(self.calibration)
            write_json(os.path.join(folder, calibration.FILE), content)

    def ask(
        self,
        table: Table,
        question: str,
        links: Mapping[tuple[int, int], Sequence[str]] | None = None,
        passages: Mapping[str, str] | None = None,
    ) -> PointrAnswer:
        """Answers one question.

        Args:
            table: the table, of any of the types that `Predictor` takes. Its own texts are read.
            question: the question.
            links: (row, column), from 0 and without the header -> identifiers of passages.
            passages: identifier -> text.

        Raises:
            InputError: if the question is empty, a link is of a cell that the table lacks, question
                and table do not fit into the model's length, or the process was forked after the
                models were loaded.
        """
        questions = [interactions.Question(id="ask-0_0", text=prepared.question(question))]
        table = as_table(table)
        interaction = interactions.interaction_from_table(table, "ask-0", questions)
        for own in ((links or {}, passages or {}), cell_texts.links(table)):
            link(interaction, *own)
        answer = self.ask_interaction(interaction)
        cuts = (*filter(None, [table.unread]), *answer.cuts)
        return dataclasses.replace(answer, cuts=cuts)

    def ask_interaction(
        self, interaction: interaction_pb2.Interaction, question_index: int = 0
    ) -> PointrAnswer:
        """Answers a question of an interaction with links and passages.

        Args:
            interaction: the table, its links and passages, and the questions.
            question_index: index of the question to answer.

        Raises:
            InputError: see `ask`.
        """
        forks.check(self._name)
        question = interaction.questions[question_index]
        probabilities, notes = self._point_at(interaction, question_index)
        found = [
            self._reading(interaction, question, cell, probability)
            for cell, probability in ranked(probabilities)[: self._num_cells]
        ]
        best = choose([reading for reading, _ in found], self._policy)
        if best is None:
            raise InputError("the table has no cells")
        characters = next(span for reading, span in found if reading is best)
        answer = _answer(interaction, best, characters, probabilities, notes)
        if self.calibration is None:
            return answer
        confidence = float(self.calibration.confidence(answer.probability))
        return dataclasses.replace(answer, confidence=confidence)

    def _point_at(self, interaction, index: int) -> tuple[np.ndarray, tuple[str, ...]]:
        """Returns P(cell), <float32>[rows, columns], and descriptions of what was not read.

        The rows of a table that does not fit are read in windows. Those with the most probable
        cells of each window are read again, until they fit into one.
        """
        table, converter = interaction.table, self._point.converter
        shape = len(table.rows), len(table.columns)
        part = ReadPart(converter.conversion(interaction, index), shape)
        if not self._reads_whole or len(part.rows) == shape[0]:
            return self._of_cells([part])[0], tuple(part.notes())
        windows, rows = converter.windows(interaction, index), np.arange(shape[0])
        while len(divided := windows.divide(rows)) > 1:
            if len(divided) == len(rows):  # of long cells, which are shortened in pairs of rows
                divided = np.array_split(rows, -(-len(rows) // 2))
            parts = [ReadPart(windows.convert(each), shape) for each in divided]
            found = zip(parts, self._of_cells(parts), strict=True)
            rows = np.concatenate([self._best_rows(*each) for each in found])
        part = ReadPart(windows.convert(rows), shape)
        notes = part.notes() if len(part.columns) < shape[1] else []
        return self._of_cells([part])[0], tuple(notes)

    def _of_cells(self, parts: Sequence[ReadPart]) -> list[np.ndarray]:
        """Returns P(cell), <float32>[rows, columns], of each part of a table."""
        found = []
        for begin in range(0, len(parts), _BATCH):
            batch = parts[begin : begin + _BATCH]
            outputs = self._point.compute(batch)
            found += [
                part.of_table(each["cell_probabilities"])
                for part, each in zip(batch, outputs, strict=True)
            ]
        return found

    def _best_rows(self, part: ReadPart, probabilities: np.ndarray) -> np.ndarray:
        """Returns the rows of a window with its most probable cells, at most half of them."""
        count = min(self._num_cells, -(-len(part.rows) // 2))
        best = np.argsort(-probabilities[part.rows].max(axis=1), kind="stable")[:count]
        return np.sort(part.rows[best])

    def _reading(self, interaction, question, cell, probability):
        """Reads one cell. Returns a `Reading` and its character range in the expanded text."""
        config = hybridqa_rc.HybridQaRcConfig(single_cell_examples=True, sources=self._sources)
        (reading,) = prediction.predicted_interactions(interaction, {question.id: [cell]}, config)
        part = ReadPart(self._read.converter.conversion(reading, 0), (1, 1))
        (outputs,) = self._read.compute([part])
        text = reading.table.rows[0].cells[0].text
        characters = span_in_text(outputs, self._offsets.ranges(text))
        log_probability = float(outputs["span_log_prob"])
        span = slice(*characters)
        if self._sources == hybridqa_rc.PASSAGES and characters[1]:
            row, column = cell
            own = interaction.table.rows[row].cells[column].text + hybridqa_rc.SEPARATOR
            characters = tuple(len(own) + place for place in characters)
        return Reading(text[span], probability, log_probability, cell), characters


def link(
    interaction: interaction_pb2.Interaction,
    links: Mapping[tuple[int, int], Sequence[str]],
    passages: Mapping[str, str],
) -> None:
    """Adds links and passages to an interaction, in place.

    Args:
        interaction: the interaction to change.
        links: (row, column), from 0 and without the header -> identifiers of passages.
        passages: identifier -> text.

    Raises:
        InputError: if a link is of a cell that the table lacks.
    """
    rows = interaction.table.rows
    for (row, column), identifiers in links.items():
        if not (0 <= row < len(rows) and 0 <= column < len(rows[row].cells)):
            raise InputError(f"links: the table has no cell in row {row}, column {column}")
        annotations = rows[row].cells[column].Extensions[_LINKS].annotations
        annotations.extend(
            annotated_text_pb2.Annotation(identifier=identifier) for identifier in identifiers
        )
    interaction.Extensions[_DESCRIPTIONS].descriptions.update(passages)


def write_settings(
    folder: str, num_cells: int, policy: str, sources: str = hybridqa_rc.ALL
) -> None:
    """Writes the settings that combine the two models into their folder.

    Args:
        folder: the folder.
        num_cells: see `PointrTaskConfig`.
        policy: see `PointrTaskConfig`.
        sources: see `HybridQaRcConfig`.
    """
    settings = {"num_cells": num_cells, "policy": policy, "sources": sources}
    write_json(os.path.join(folder, SETTINGS_FILE), settings)


def _settings(folder: str) -> dict:
    path = os.path.join(folder, SETTINGS_FILE)
    if not os.path.isfile(path):
        raise InputError(f"{path}: no such file; train or export with --task=POINTR")
    return read_json_object(path)


def _calibration(folder: str) -> calibration.Calibration | None:
    path = os.path.join(folder, calibration.FILE)
    return calibration.read(path) if os.path.isfile(path) else None


def _answer(interaction, best: Reading, characters, probabilities, cuts) -> PointrAnswer:
    if best.cell is None:
        raise ValueError("a reading of no cell")
    row, column = best.cell
    cell = interaction.table.rows[row].cells[column]
    passage, sentence = _source(interaction, cell, characters)
    return PointrAnswer(
        text=best.text,
        row=row,
        column=column,
        cell=cell.text,
        passage=passage,
        sentence=sentence,
        cell_probability=best.cell_probability,
        span_probability=float(np.exp(best.span_log_probability)),
        probabilities=probabilities,
        cuts=cuts,
    )


def _source(interaction, cell, characters) -> tuple[str | None, str]:
    """Returns the passage and the sentence around a character range of the expanded text."""
    descriptions = interaction.Extensions[_DESCRIPTIONS].descriptions
    begin = len(cell.text)
    if characters[0] < begin or characters[0] == characters[1]:
        return None, cell.text
    for identifier in dict.fromkeys(expansion.links(cell)):
        if identifier not in descriptions:
            continue
        text = descriptions[identifier]
        begin += len(hybridqa_rc.SEPARATOR)
        if characters[0] < begin + len(text):
            return identifier, _sentence(text, characters[0] - begin)
        begin += len(text)
    return None, cell.text


def _sentence(text: str, character: int) -> str:
    """Returns the sentence that contains the character at an index."""
    begin = 0
    for sentence in split_sentences(text):
        begin = text.index(sentence, begin)
        if character < begin + len(sentence):
            return sentence
    return text
