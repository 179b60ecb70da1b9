"""State and actions of the page, without gradio: questions, attention and timings of a model."""

import dataclasses
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mate_tf.analysis.attention import flow as attention_flow
from mate_tf.checkpoints.latest import latest
from mate_tf.demo import speed
from mate_tf.errors import InputError
from mate_tf.serving.answer import Answer
from mate_tf.serving.predictor import Predictor
from mate_tf.serving.read_part import ReadPart
from mate_tf.tables import cell_texts, html
from mate_tf.tables.table import Table
from mate_tf.tables.text import percent
from mate_tf.training import experiments, trainer

CHOSEN, QUESTION = "chosen cells", "question"
"""Sources of the attention that is shown."""

ALL_LAYERS = "all layers"
LONGEST = 4096
"""Longest input with attention shown, in tokens: memory grows with the square of the length."""

LONGEST_TALK = 20
"""Questions of a conversation that are kept."""


@dataclasses.dataclass(frozen=True)
class Turn:
    """A question and its answer.

    Attributes:
        question: the question.
        answer: the answer.
        part: the part of the table that was read; None of a model of several steps.
        features: inputs of the model: name -> <int32>[1, seq]; {} of such a model.
        flow: source (`CHOSEN`, `QUESTION`) -> its attention; None until it is computed.
    """

    question: str
    answer: Answer
    part: ReadPart | None = None
    features: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    flow: dict[str, attention_flow.CellAttention] | None = None

    @property
    def read(self) -> tuple[list[int], list[int]] | None:
        """Rows and columns that the answer is from; None: from all of them."""
        kinds = ("rows dropped", "columns dropped")
        if self.part and any(kind in cut for cut in self.answer.cuts for kind in kinds):
            return self.part.rows.tolist(), self.part.columns.tolist()
        return None


@dataclasses.dataclass(frozen=True)
class Conversation:
    """Table and questions of one user.

    Attributes:
        table: the table, or None.
        pasted: the text that it was read from; "" if it was uploaded.
        turns: the questions about the table, with their answers.
        texts: texts about its cells, see `tables.cell_texts`.
    """

    table: Table | None = None
    pasted: str = ""
    turns: tuple[Turn, ...] = ()
    texts: tuple[tuple[str, str], ...] = ()

    def about(self, table: Table | None, pasted: str = "") -> "Conversation":
        """Returns a conversation about another table, with the same texts."""
        return Conversation(table, pasted, texts=self.texts)


class Demo:
    """An exported model and, for attention and timings, the same model from its checkpoint.

    Args:
        predictor: predictor with the exported model.
        model: the model from the folder of its training, or None.
        task: name of the task that it was trained on; "" if it is not known.
        name: name of the model on the page: the folder or name that it was loaded from.
        reads_texts: whether it reads texts about cells, as POINTR does. It answers in several
            steps, so that attention and timings are not shown.
    """

    def __init__(
        self,
        predictor: Any,
        model: Any = None,
        task: str = "",
        name: str = "",
        reads_texts: bool = False,
    ):
        self._predictor = predictor
        self._model = model
        self.task = task
        self.name = name
        self.reads_texts = reads_texts

    @classmethod
    def load(
        cls, export_dir: str, model_dir: str | None = None, reading: str | dict = "whole"
    ) -> "Demo":
        """Reads a SavedModel and, if given, the last checkpoint of its training.

        Args:
            export_dir: folder of the SavedModel.
            model_dir: folder of the training.
            reading: as for `Predictor`.

        Raises:
            InputError: if either does not exist.
        """
        predictor = Predictor(export_dir, reading)
        if model_dir is None:
            return cls(predictor, name=str(export_dir))
        experiment = experiments.load_saved(model_dir)
        model = trainer.load_model(experiment, model_dir)
        return cls(predictor, model, experiment.task.name.upper(), str(export_dir))

    @property
    def conversational(self) -> bool:
        """True if it was trained on questions that refer to previous ones."""
        return self.task == "SQA"

    @property
    def has_model(self) -> bool:
        """True if attention and timings can be shown."""
        return self._model is not None

    @property
    def description(self) -> str:
        """Name of the model, and the size of its encoder if it is known."""
        if not self.has_model:
            return self.name
        encoder = self._model.encoder
        layers = len(encoder.blocks)
        size = f"{layers} layer{'s' * (layers > 1)} of width {encoder.config.hidden_size}"
        return f"{self.name} ({self.attention}, {size})"

    @property
    def attention(self) -> str:
        """Names of the model's attention variants, joined by commas."""
        configs = self._model.encoder.config.attention_per_layer()
        return ", ".join(dict.fromkeys(config.name for config in configs))

    @property
    def layers(self) -> list[str]:
        """Choices of layers: `ALL_LAYERS`, and the number of each layer, from 1."""
        return [ALL_LAYERS, *map(str, range(1, len(self._model.encoder.blocks) + 1))]

    @property
    def head_types(self) -> list[str]:
        """Choices of heads: all heads, and the model's head types."""
        return list(attention_flow.head_groups(self._model.encoder))

    def ask(self, talk: Conversation, question: str, follow_up: bool = False) -> Conversation:
        """Answers a question about the table.

        Args:
            talk: the conversation so far.
            question: the question.
            follow_up: whether it refers to the previous answer.

        Returns:
            the conversation with one more turn, and at most `LONGEST_TALK` of them.

        Raises:
            InputError: if there is no table or no question, or they are too long for the model.
        """
        if talk.table is None:
            raise InputError("paste a table first, or upload one")
        if not (question or "").strip():
            raise InputError("type a question first")
        previous = talk.turns[-1].answer if talk.turns and follow_up else None
        table = cell_texts.add(talk.table, talk.texts, "texts") if talk.texts else talk.table
        turn = Turn(question, self._predictor.ask(table, question, previous))
        if not self.reads_texts:
            part = self._predictor.read(table, question, previous)
            features = attention_flow.example_features(part.example)
            turn = dataclasses.replace(turn, part=part, features=features)
        return dataclasses.replace(talk, turns=(*talk.turns, turn)[-LONGEST_TALK:])

    def attend(self, talk: Conversation) -> Conversation:
        """Returns the conversation with the attention of its last turn.

        Raises:
            InputError: if there is no question yet, the variant has no attention probabilities, or
                the input is longer than `LONGEST`.
        """
        if not talk.turns:
            raise InputError("ask a question first, to see its attention")
        *before, turn = talk.turns
        if turn.flow is not None:
            return talk
        tokens = turn.features["input_mask"].shape[1]
        if tokens > LONGEST:
            raise InputError(f"{tokens} tokens: attention is shown up to {LONGEST}")
        ids = (turn.features[name][0] for name in ("row_ids", "column_ids"))
        part = _part(turn)
        rows, columns = part.cells(*ids)
        chosen = np.zeros_like(rows, bool)
        for row, column in turn.answer.coordinates:
            chosen |= (rows == row) & (columns == column)
        sources = {CHOSEN: chosen, QUESTION: turn.features["segment_ids"][0] == 0}
        shape = len(part.rows), len(part.columns)
        flow = attention_flow.to_cells(self._model.encoder, turn.features, sources, shape)
        turn = dataclasses.replace(turn, flow=flow)
        return dataclasses.replace(talk, turns=(*before, turn))

    def attention_shading(
        self,
        turn: Turn,
        source: str = CHOSEN,
        heads: str = attention_flow.ALL_HEADS,
        layer=ALL_LAYERS,
    ) -> html.Shading:
        """Returns a shading by the mean attention of some heads, from a source to each cell.

        Args:
            turn: a turn with `flow`.
            source: CHOSEN or QUESTION. QUESTION is used if no cell is selected.
            heads: one of `head_types`.
            layer: one of `layers`.

        Raises:
            InputError: if the layer has no such heads.
        """
        flows = turn.flow or {}
        source = source if source in flows else QUESTION
        flow = flows[source]
        used = attention_flow.head_groups(self._model.encoder)[heads].copy()
        if layer != ALL_LAYERS:
            used[np.arange(len(used)) != int(layer) - 1] = False
        if not used.any():
            raise InputError(f"layer {layer} has no {heads}")
        cells, question = flow.cells[used].mean(0), float(flow.question[used].mean())
        where = ALL_LAYERS if layer == ALL_LAYERS else f"layer {layer}"
        own = f"{self.attention}, {where}, {heads}: {percent(question)} go to the question"
        return html.Shading(
            "attention",
            _part(turn).with_header(cells),
            float(cells.max()) or 1.0,
            f"attention from the {source} to each cell",
            f"{own}. Computed as a full matrix with the mask of this variant.",
        )

    def compare(
        self, talk: Conversation, names: list[str], length: int = 0
    ) -> Iterator[tuple[list[speed.Timing], str, str]]:
        """Times variants with the weights of this model on the last question.

        Args:
            talk: the conversation.
            names: names of the variants.
            length: length in tokens to pad the input to; 0: no padding.

        Yields:
            before each variant and at the end: (timings so far, caption, name of the variant that
            runs next, "" at the end).

        Raises:
            InputError: if there is no question yet, there are no variants, or the input is too long
                for this model.
        """
        if not talk.turns:
            raise InputError("ask a question first, to time it")
        if not names:
            raise InputError("choose the variants to compare")
        features, encoder = talk.turns[-1].features, self._model.encoder
        own = features["input_mask"].shape[1]
        caption = (
            f"Median forward pass of the encoder, {len(encoder.blocks)} layers of width "
            f"{encoder.config.hidden_size}, for one example of {max(own, length)} tokens ({own} of "
            f"them question and table), float32, {os.cpu_count()} processors. All variants have "
            "this model's weights."
        )
        timings, measured = [], speed.compare(encoder, features, names, length)
        for name in names:
            yield timings, caption, name
            timings = [*timings, next(measured)]
        yield timings, caption, ""

    @property
    def variants(self) -> list[str]:
        """Variants to compare: those without their own weights, and the model's."""
        return list(dict.fromkeys([*speed.VARIANTS, *self.attention.split(", ")]))


def _part(turn: Turn) -> ReadPart:
    if turn.part is None:
        raise InputError("the attention of a model of several steps is not shown")
    return turn.part


def has_checkpoint(model_dir: str) -> bool:
    """Returns whether a folder has the configuration and a checkpoint of a training run."""
    configured = os.path.exists(os.path.join(model_dir, experiments.PARAMS_FILE))
    return configured and latest(model_dir) is not None
