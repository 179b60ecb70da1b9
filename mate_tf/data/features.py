"""Names, types and shapes of everything that goes into a model. The one place for them.

The names are those of the reference's TF examples (google-research/tapas), so that its records
can be read and ours can be read by it.
"""

import dataclasses

QUESTION_ID_LENGTH = 64
"""Length of `question_id_ints`: the characters of a question id, each as ord + 1, padded by 0."""


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
"""What an encoder reads: int32 [batch, seq] each."""

TOKEN_LABELS = (
    Feature("label_ids"),
    Feature("numeric_values", "float32", padding=float("nan")),
    Feature("numeric_values_scale", "float32", padding=1.0),
)
"""Labels and numbers per token. `numeric_values` is NaN where a cell has no number."""

EXAMPLE_LABELS = (
    Feature("aggregation_function_id", per_token=False),
    Feature("classification_class_index", per_token=False),
    Feature("answer", "float32", per_token=False),
)
"""Labels per example. `answer` is NaN where the answer is not a number."""

IDENTIFIERS = (
    Feature("question_id", "string", per_token=False),
    Feature("question_id_ints", per_token=False, size=QUESTION_ID_LENGTH),
    Feature("table_id", "string", per_token=False),
    Feature("table_id_hash", per_token=False),
)
"""Which question and table an example came from."""

ALL = MODEL_INPUTS + TOKEN_LABELS + EXAMPLE_LABELS + IDENTIFIERS

_OF_TABLES = {*TOKEN_TYPES[1:], *(feature.name for feature in TOKEN_LABELS)}
SEQUENCE = tuple(feature for feature in ALL if feature.name not in _OF_TABLES)
"""What examples of sequences without a table have. Readers fill the others with their padding."""


def names(features) -> list[str]:
    """Names of a group of features, for example `names(MODEL_INPUTS)`."""
    return [feature.name for feature in features]
