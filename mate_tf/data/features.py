"""Names, types and shapes of all features of examples.

The names are those of the reference's TF examples (google-research/tapas), so that each code can
read the records of the other.
"""

import dataclasses

QUESTION_ID_LENGTH = 64
"""Length of `question_id_ints`: characters of a question id as ord + 1, padded with 0."""


@dataclasses.dataclass(frozen=True)
class Feature:
    """One named feature of an example.

    Attributes:
        name: key in the tf.train.Example and in the batch dictionary.
        dtype: "int64", "float32" or "string", as stored; integers reach models as int32.
        per_token: True for one value per token, shape [seq]; False for a fixed `size`.
        size: number of values if not per token.
        padding: value beyond the last token.
    """

    name: str
    dtype: str = "int64"
    per_token: bool = True
    size: int = 1
    padding: float = 0

    @property
    def array_dtype(self) -> str:
        """The dtype in arrays and batches: "int32" if all values of "int64" fit, "object" of bytes
        for "string".
        """
        # A hash is an unsigned number of 32 bits.
        if self.dtype == "int64" and self.name != "table_id_hash":
            return "int32"
        return "object" if self.dtype == "string" else self.dtype


TOKEN_TYPES = (
    "segment_ids",
    "column_ids",
    "row_ids",
    "prev_label_ids",
    "column_ranks",
    "inv_column_ranks",
    "numeric_relations",
)
"""The seven token types, in the order of the embedding tables token_type_embeddings_0..6."""

MODEL_INPUTS = tuple(Feature(name) for name in ("input_ids", "input_mask", *TOKEN_TYPES))
"""Inputs of an encoder: <int32>[batch, seq] each."""

TOKEN_LABELS = (
    Feature("label_ids"),
    Feature("numeric_values", "float32", padding=float("nan")),
    Feature("numeric_values_scale", "float32", padding=1.0),
)
"""Labels and numbers per token. `numeric_values` is NaN for cells without a number."""

EXAMPLE_LABELS = (
    Feature("aggregation_function_id", per_token=False),
    Feature("classification_class_index", per_token=False),
    Feature("answer", "float32", per_token=False),
)
"""Labels per example. `answer` is NaN if the answer is not a number."""

IDENTIFIERS = (
    Feature("question_id", "string", per_token=False),
    Feature("question_id_ints", per_token=False, size=QUESTION_ID_LENGTH),
    Feature("table_id", "string", per_token=False),
    Feature("table_id_hash", per_token=False),
)
"""Identifiers of the question and the table of an example."""

ALL = MODEL_INPUTS + TOKEN_LABELS + EXAMPLE_LABELS + IDENTIFIERS

_OF_TABLES = {*TOKEN_TYPES[1:], *(feature.name for feature in TOKEN_LABELS)}
SEQUENCE = tuple(feature for feature in ALL if feature.name not in _OF_TABLES)
"""Features of examples of sequences without a table. Readers set the others to their padding."""

TARGET = Feature("target_ids", per_token=False)
"""Tokens of the text to write: [CLS], its pieces, [SEP], then 0. All records have one length."""


def names(features) -> list[str]:
    """Returns the names of a group of features, for example `names(MODEL_INPUTS)`."""
    return [feature.name for feature in features]
