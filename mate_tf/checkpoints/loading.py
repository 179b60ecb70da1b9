"""Loads a checkpoint into a model and reports loaded, missing and unused variables."""

import dataclasses
import re

import tensorflow as tf

from mate_tf.checkpoints import finite, growth, huggingface
from mate_tf.checkpoints.names import checkpoint_variables, own_variables
from mate_tf.checkpoints.stored_tensor import StoredTensor
from mate_tf.data import features
from mate_tf.errors import InputError

# State of a training run in a checkpoint besides the model: optimizer slots and counters.
_TRAINING_STATE = re.compile(
    r"(/adam_[mv]|/accum)$|^(global_step|(save_)?counter)$|^optimizer/|OPTIMIZER_SLOT"
)

BERT_SEGMENTS = "bert/embeddings/token_type_embeddings"
"""BERT's only table of token types."""

TABLE_SEGMENTS = BERT_SEGMENTS + "_0"
"""The table of segment_ids, the first of a table encoder's seven."""

_SEGMENTS = {BERT_SEGMENTS, TABLE_SEGMENTS}
_WORDS = "word_embeddings"


@dataclasses.dataclass(frozen=True)
class LoadReport:
    """Result of `load`: names of variables.

    Names are the reference's; for checkpoints of mate-tf, attribute paths. `unused` has the
    checkpoint's own names.

    Attributes:
        loaded: variables that were loaded into the model.
        missing: variables of the model that the checkpoint lacks; they keep their values.
        unused: variables of the checkpoint that the model lacks, without optimizer state.
        mismatched: variables that were skipped because their shapes differ.
        partial: variables in `loaded` for which the checkpoint has only the first part.
    """

    loaded: tuple[str, ...]
    missing: tuple[str, ...]
    unused: tuple[str, ...]
    mismatched: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()

    def __str__(self):
        parts = (f"{len(self.loaded)} variables loaded",)
        for title in ("missing", "unused", "mismatched", "partial"):
            names = getattr(self, title)
            if names or title in ("missing", "unused"):
                parts += (f"{title}: {', '.join(names) or 'none'}",)
        return "; ".join(parts)


def load(model: tf.Module, path, skip_mismatched=False, exclude: str | None = None) -> LoadReport:
    """Loads every variable of `model` that the checkpoint has.

    The kind of checkpoint is recognized from its files:

    * TF1 checkpoints of BERT and TAPAS, with the reference's names;
    * weights of Hugging Face's TAPAS and BERT: a file (.safetensors, .bin, .index.json of shards)
      or its folder;
    * object-based checkpoints (tf.train.Checkpoint) of the same model, of an object that contains
      it (one of a training run), or of a part of it (its encoder);
    * such checkpoints of tf-models' BertEncoder and BertEncoderV2, alone or within a model.

    Variables that the checkpoint lacks keep their values. BERT has one table of two token types, a
    table encoder has seven tables; BERT's becomes the first rows of the table of segment_ids.
    Lower decision trees in the checkpoint become the upper levels of the model's trees
    (`growth.grown`), and the other levels keep their values. With `repeat_positions` of the
    EncoderConfig, copies of the checkpoint's position embeddings fill a larger table.

    Args:
        model: a TableEncoder, or a model with one; its variables must exist.
        path: prefix of a checkpoint, a file, or a folder with weights or checkpoints, of which the
            latest is read.
        skip_mismatched: skip variables of another shape, and report them, instead of raising.
        exclude: regular expression. Variables with a match in their name, the reference's or the
            checkpoint's, keep their values and are not reported.

    Returns:
        a `LoadReport`.

    Raises:
        InputError: if there is no checkpoint, a variable has another shape, or the model has no
            variable of the checkpoint. The model is then unchanged, unless a tensor of the file is
            found to be damaged, or not finite, while it is loaded.
    """
    path, tensors, named_by_path = _read(str(path))
    by_reference = checkpoint_variables(model)
    variables = own_variables(model, tensors) if named_by_path else by_reference
    if exclude:
        named = [*variables.items(), *by_reference.items()]
        kept = {id(variable) for name, variable in named if re.search(exclude, name)}
        variables = {name: v for name, v in variables.items() if id(v) not in kept}
    grown = growth.grown(model, tensors, variables)
    tensors |= {name: tensors[name].scaled(factor) for name, factor in grown.items()}
    axes = dict.fromkeys(grown, 1)
    if TABLE_SEGMENTS in variables and tensors.keys() & _SEGMENTS == {BERT_SEGMENTS}:
        tensors[TABLE_SEGMENTS] = tensors.pop(BERT_SEGMENTS)
        axes[TABLE_SEGMENTS] = 0
    whole = {name: tensors[name].padded(variables[name], axis) for name, axis in axes.items()}
    whole |= growth.repeated(model, tensors, variables)
    partial = {name for name in whole if whole[name] is not tensors[name]}
    tensors |= whole
    matching = {name: variable for name, variable in variables.items() if name in tensors}
    if not matching:
        raise InputError(
            f"{path}: has none of the model's variables; the model has "
            f"{', '.join(sorted(variables)[:3])}, …, the checkpoint has "
            f"{', '.join(sorted(tensors)[:3])}, …"
        )
    mismatched = {name for name, v in matching.items() if tuple(v.shape) != tensors[name].shape}
    loaded = matching.keys() - mismatched
    if mismatched and not (skip_mismatched and loaded):
        known = {id(variable): name for name, variable in by_reference.items()}
        known = {name: known.get(id(matching[name]), "") for name in mismatched}
        # The table of words shows best which width is meant.
        name = min(mismatched, key=lambda each: (not known[each].endswith(_WORDS), each))
        cause = _cause(known[name], tensors[name].shape, matching[name].shape)
        raise InputError(
            f"{path}: {name} has the shape {list(tensors[name].shape)}, "
            f"but the model's has {list(matching[name].shape)}{cause}"
        )
    for name in sorted(loaded):
        values = tensors[name].read()
        finite.check(path, name, values)
        matching[name].assign(tf.cast(values, matching[name].dtype))
    unused = (tensor.name for name, tensor in tensors.items() if name not in matching)
    return LoadReport(
        loaded=tuple(sorted(loaded)),
        missing=tuple(sorted(variables.keys() - matching.keys())),
        unused=tuple(sorted(name for name in unused if not _TRAINING_STATE.search(name))),
        mismatched=tuple(sorted(mismatched)),
        partial=tuple(sorted(partial)),
    )


def _read(path: str) -> tuple[str, dict[str, StoredTensor], bool]:
    """Returns a checkpoint's file or prefix; name -> tensor; whether names are attribute paths."""
    if file := huggingface.weights_file(path):
        return file, huggingface.by_reference_name(huggingface.tensors(file)), False
    from mate_tf.checkpoints import bert, bundle

    prefix = bundle.prefix(path)
    tensors, graph = bundle.read(prefix)
    if graph is None:
        return prefix, tensors, False
    of_bert = bert.by_reference_name(tensors, graph)
    return prefix, of_bert or tensors, of_bert is None


def _cause(reference_name: str, stored, ours) -> str:
    """Returns the cause of a different shape, as the end of a message, or ""."""
    if len(stored) != len(ours):
        return ""
    if list(stored[1:]) != list(ours[1:]):
        if not reference_name.endswith(_WORDS):
            return ""
        return (
            f": hidden_size is {stored[1]} in the checkpoint, {ours[1]} in the configuration; set "
            f"task.model.encoder.hidden_size={stored[1]}, and the encoder's other sizes as they "
            "were trained (those of the preset mini: configs/custom_mini.yaml)"
        )
    if reference_name.endswith(_WORDS):
        return ": it was trained with another vocabulary (vocab_size)"
    if reference_name.endswith("position_embeddings"):
        if reference_name.startswith("decoder/"):
            return ": max_target_positions differs"
        return ": max_position_embeddings differs"
    if table := re.search(r"token_type_embeddings_(\d)$", reference_name):
        index = int(table[1])
        return f": type_vocab_sizes[{index}] ({features.TOKEN_TYPES[index]}) differs"
    return ""
