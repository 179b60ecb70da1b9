"""Checks that the tests notice bugs: puts one at a time into a copy of the library and runs tests.

    python benchmarks/mutations.py [--only SUBSTRING]

Prints for each bug the first test that fails, and exits with 1 if a bug goes unnoticed. Each entry
names the text to replace, which must occur once in mate_tf and benchmarks, and the tests of the
default run that guard it. Takes about half a minute a bug on 2 cores, because each starts a process
of its own.
"""

import argparse
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROJECT = pathlib.Path(__file__).resolve().parents[1]
COPIED = ("mate_tf", "tests", "configs", "protos", "benchmarks", "docs", "colab", "results")


@dataclasses.dataclass(frozen=True)
class Mutation:
    """One bug.

    Attributes:
        area: part of the library.
        bug: what is wrong afterwards.
        old: text that occurs once in mate_tf and benchmarks, but for this list.
        new: text that takes its place.
        tests: test files of the default run that should notice.
    """

    area: str
    bug: str
    old: str
    new: str
    tests: tuple[str, ...]


MUTATIONS = (
    Mutation(
        "attention",
        "windows reach two buckets instead of one",
        "tf.abs(q.bucket - k.bucket) <= 1",
        "tf.abs(q.bucket - k.bucket) <= 2",
        ("tests/attention/masks/test_table.py", "tests/attention/test_mate.py"),
    ),
    Mutation(
        "attention",
        "padding is attended to",
        "    return allowed & q.real & k.real",
        "    return allowed & q.real",
        ("tests/attention/masks/test_table.py",),
    ),
    Mutation(
        "attention",
        "scores are not divided by the softmax temperature",
        "self.head_size**-0.5 / self.softmax_temperature",
        "self.head_size**-0.5",
        ("tests/attention/test_contract.py", "tests/models/test_encoder.py"),
    ),
    Mutation(
        "attention",
        "outputs of blocks are read back from the wrong block",
        "of_block = tf.gather(blocks.places, tail // block, batch_dims=1)",
        "of_block = tf.gather(blocks.places, tail // (block + 1), batch_dims=1)",
        ("tests/attention/test_mate.py",),
    ),
    Mutation(
        "losses",
        "the Huber loss loses its linear part",
        "return 0.5 * tf.square(quadratic) + delta * (tf.abs(error) - quadratic)",
        "return 0.5 * tf.square(quadratic)",
        ("tests/models/heads/test_aggregation.py",),
    ),
    Mutation(
        "losses",
        "the count includes the item itself twice",
        "count_if_chosen = 1.0 + count[:, tf.newaxis] - probs",
        "count_if_chosen = 1.0 + count[:, tf.newaxis]",
        ("tests/models/heads/test_aggregation.py",),
    ),
    Mutation(
        "losses",
        "the token loss counts padding",
        'per_token = _bernoulli_loss(outputs["logits"], labels) * weight * mask',
        'per_token = _bernoulli_loss(outputs["logits"], labels) * weight',
        ("tests/models/heads/test_cell_selection.py", "tests/models/test_classifier_goldens.py"),
    ),
    Mutation(
        "losses",
        "cell selection is preferred for numbers that are in no cell",
        "in_cells = has_labels(features) > 0",
        "in_cells = has_labels(features) >= 0",
        ("tests/models/heads/test_aggregation.py", "tests/models/test_classifier_goldens.py"),
    ),
    Mutation(
        "conversion",
        "columns count from 0",
        "self.columns = (cells % max(num_columns, 1) + 1)",
        "self.columns = (cells % max(num_columns, 1))",
        ("tests/tables/test_linearize.py", "tests/data/converters/test_examples.py"),
    ),
    Mutation(
        "conversion",
        "the segment of the table is that of the question",
        "segment_ids=np.concatenate([before, np.ones(len(kept), np.int32)])",
        "segment_ids=np.concatenate([before, np.zeros(len(kept), np.int32)])",
        ("tests/tables/test_linearize.py", "tests/data/converters/test_examples.py"),
    ),
    Mutation(
        "conversion",
        "the first question has the labels of a previous one",
        "        if index > 0:\n            previous = interaction.questions[index - 1]",
        "        if index >= 0:\n            previous = interaction.questions[index - 1]",
        (
            "tests/data/converters/test_examples.py",
            "tests/data/converters/test_examples_goldens.py",
        ),
    ),
    Mutation(
        "conversion",
        "a word may be cut in two",
        "self._levels = table.word_begins",
        "self._levels = table.positions",
        ("tests/tables/test_linearize.py",),
    ),
    Mutation(
        "metrics",
        "a superset of the gold cells counts as right",
        "return set(prediction.coordinates) == gold_cells(question)",
        "return set(prediction.coordinates) >= gold_cells(question)",
        ("tests/evaluation/test_metrics.py",),
    ),
    Mutation(
        "metrics",
        "a sequence counts as right with one right question",
        '"SEQ": _mean(all(right) for right in sequences.values())',
        '"SEQ": _mean(any(right) for right in sequences.values())',
        ("tests/evaluation/test_metrics.py",),
    ),
    Mutation(
        "metrics",
        "a question without a gold class is right when class 0 is chosen",
        'return gold.HasField("class_index") and prediction.class_index == gold.class_index',
        "return prediction.class_index == gold.class_index",
        ("tests/evaluation/test_metrics.py",),
    ),
    Mutation(
        "checkpoints",
        "tensors of a safetensors file are read from the wrong offset",
        'first, last = (begin + offset for offset in entry["data_offsets"])',
        'first, last = (begin + 4 + offset for offset in entry["data_offsets"])',
        ("tests/checkpoints/test_safetensors.py",),
    ),
    Mutation(
        "checkpoints",
        "only the first of a variable's names is matched",
        "named = [*checkpoint_variables(model).items(), *variable_paths(model).items()]",
        "named = [*checkpoint_variables(model).items()]",
        ("tests/checkpoints/test_load.py", "tests/tasks/test_base.py"),
    ),
    Mutation(
        "serving",
        "the least probable class is answered",
        "index = int(np.argmax(probabilities))",
        "index = int(np.argmin(probabilities))",
        ("tests/serving/test_predictor.py",),
    ),
    Mutation(
        "serving",
        "the previous answer is marked one row too low",
        "rows, columns = np.append(-1, self.rows), np.append(-1, self.columns)",
        "rows, columns = np.append(0, self.rows + 1), np.append(-1, self.columns)",
        ("tests/serving/test_predictor.py",),
    ),
    Mutation(
        "serving",
        "the aggregation with the least probability is computed",
        'AGGREGATIONS[int(np.argmax(outputs["aggregation_probabilities"]))]',
        'AGGREGATIONS[int(np.argmin(outputs["aggregation_probabilities"]))]',
        ("tests/serving/test_predictor.py",),
    ),
    Mutation(
        "attention",
        "MATE's windows have no dropout",
        "attend(self.softmax_attention, q.long, k.window, v.window, part.bias)",
        "outputs.append(self.softmax_attention(q.long, k.window, v.window, part.bias))",
        ("tests/attention/test_mate.py",),
    ),
    Mutation(
        "attention",
        "MATE's global rows have no dropout",
        "attend(of_global, q.global_, k.full, v.full, part.global_bias)",
        "outputs.append(self.softmax_attention(q.global_, k.full, v.full, part.global_bias))",
        ("tests/attention/test_mate.py",),
    ),
    Mutation(
        "attention",
        "MATE's rows under the dense mask have no dropout",
        "self.softmax_attention(own_query, key, value, bias, training, own_seed)",
        "self.softmax_attention(own_query, key, value, bias)",
        ("tests/attention/test_mate.py",),
    ),
    Mutation(
        "attention",
        "no whole keys are dropped",
        "return value * self.dropout(tf.ones_like(value[..., :1]), training=training)",
        "return value",
        ("tests/attention/test_base.py",),
    ),
    Mutation(
        "attention",
        "elements are dropped instead of whole keys",
        "tf.ones_like(value[..., :1])",
        "tf.ones_like(value)",
        ("tests/attention/test_base.py",),
    ),
    Mutation(
        "attention",
        "windows begin a bucket apart instead of a block",
        "shape_list(positions)[1] + pieces.numbers * step",
        "shape_list(positions)[1] + pieces.numbers * (step // 2)",
        ("tests/attention/test_mate.py",),
    ),
    Mutation(
        "attention",
        "row heads are rounded instead of rounded down",
        "rows = int(num_heads * config.row_heads_ratio)",
        "rows = round(num_heads * config.row_heads_ratio)",
        ("tests/attention/test_mate_heads.py",),
    ),
    Mutation(
        "attention",
        "gradients of trees have no bound",
        "tf.maximum(mass, LEAST_MASS)",
        "tf.maximum(mass, 1e-9)",
        ("tests/attention/test_tree_fine.py",),
    ),
    Mutation(
        "attention",
        "gradients of trees have another bound",
        "LEAST_MASS = 0.1",
        "LEAST_MASS = 0.3",
        ("tests/attention/test_tree_fine.py",),
    ),
    Mutation(
        "masks",
        "a diagonal that is off has a price",
        "tf.reduce_sum(self._of_n_tokens(soft))",
        "tf.reduce_sum(soft)",
        ("tests/attention/test_learned_mask.py",),
    ),
    Mutation(
        "masks",
        "a diagonal of relations that is off has a price",
        "self._pay(soft, one_hot * tf.cast(allowed, tf.float32))",
        "self._pay(soft, one_hot * tf.cast(masks.real_pairs(context), tf.float32))",
        ("tests/attention/test_relation_mask.py",),
    ),
    Mutation(
        "masks",
        "masks of DAM_u are symmetric",
        "by_paper = config.structured or config.objective != DAM",
        "by_paper = True",
        ("tests/attention/test_learned_mask.py",),
    ),
    Mutation(
        "masks",
        "the last row is that of the buffer",
        "at_end = (position == 0) | (position == last)",
        "at_end = (position == 0) | (position == seq - 1)",
        ("tests/attention/test_learned_mask.py",),
    ),
    Mutation(
        "masks",
        "a saved mask has the last row of the buffer",
        "last = files.of_last_token(self.config.mask)",
        "last = False",
        ("tests/attention/test_learned_mask.py",),
    ),
    Mutation(
        "masks",
        "the benchmark of DAM begins elsewhere than the results say",
        "    0.03  # Adam's steps",
        "    0.04  # Adam's steps",
        ("tests/benchmarks/test_sparsebert.py",),
    ),
    Mutation(
        "losses",
        "the logit of column 0 is -10000, whatever it was",
        "logits += LOG_ZERO * tf.one_hot(0, self._config.max_num_columns)",
        "logits = _without_column_0(logits) + LOG_ZERO * tf.one_hot(0, logits.shape[1])",
        ("tests/models/heads/test_cell_selection.py", "tests/models/test_classifier_goldens.py"),
    ),
    Mutation(
        "losses",
        "clipping to 10 replaces the norm of 1",
        "gradients, _ = tf.clip_by_global_norm(gradients, self._clip_norm)",
        "gradients = gradients if self.clipvalue else tf.clip_by_global_norm(gradients, 1.0)[0]",
        ("tests/training/test_optimizers.py",),
    ),
    Mutation(
        "metrics",
        "cells with equal texts count once",
        "return float(len(texts))",
        "return float(len(set(texts)))",
        ("tests/answers/test_execution.py",),
    ),
    Mutation(
        "pointr",
        "the reader of Table-Only reads passages",
        "known = [] if sources == CELLS else _links(cell)",
        "known = _links(cell)",
        ("tests/pointr/test_conversion.py",),
    ),
    Mutation(
        "pointr",
        "the reader of Passage-Only reads cells",
        "own = [] if sources == PASSAGES else [cell.text]",
        "own = [cell.text]",
        ("tests/pointr/test_conversion.py",),
    ),
    Mutation(
        "trees",
        "finished layers never begin again",
        "last = end if config.finished == KEEP else None",
        "last = end",
        ("tests/training/test_bootstrap.py",),
    ),
    Mutation(
        "losses",
        "an example with cells teaches its class",
        "        return 1.0 - with_cells if of_class else with_cells",
        "        return with_cells if of_class else with_cells",
        ("tests/models/test_classifier.py",),
    ),
    Mutation(
        "metrics",
        "the accuracy of classes counts examples with cells",
        "(1.0 - with_cells if name == CLASS_ACCURACY else with_cells)",
        "(1.0 if name == CLASS_ACCURACY else with_cells)",
        ("tests/tasks/test_head_metrics.py", "tests/tasks/test_questions.py"),
    ),
    Mutation(
        "conversion",
        "counterfactual statements are true",
        "class_index=statements.ENTAILED if statement.is_true else statements.REFUTED",
        "class_index=statements.REFUTED if statement.is_true else statements.ENTAILED",
        ("tests/data/datasets/test_questions.py",),
    ),
    Mutation(
        "pointr",
        "other cells of a gold cell's column are read, not of its row",
        "        ROW: lambda row, column: row in rows,",
        "        ROW: lambda row, column: column in columns,",
        ("tests/data/datasets/test_hybridqa_rc.py",),
    ),
)


def first_failure(mutation: Mutation) -> str:
    """Name of the first test that fails with the bug; empty if none does."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in COPIED:
            shutil.copytree(PROJECT / name, copy / name)
        for path in PROJECT.iterdir():
            if path.is_file():
                shutil.copy(path, copy)
        path = _file_with(copy, mutation.old)
        path.write_text(path.read_text("utf-8").replace(mutation.old, mutation.new), "utf-8")
        shared = os.environ.get("MATE_TF_SHARED", str(PROJECT.parent / "shared"))
        result = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutation.tests],
            cwd=copy,
            env=os.environ | {"PYTHONPATH": str(copy), "MATE_TF_SHARED": shared},
            capture_output=True,
            text=True,
            check=False,
        )
    if result.returncode not in (0, 1):  # pytest did not run its tests
        raise SystemExit((result.stdout + result.stderr).strip())
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", result.stdout, re.MULTILINE)
    return found[1] if found else ""


def _file_with(copy: pathlib.Path, old: str) -> pathlib.Path:
    files = (*copy.glob("mate_tf/**/*.py"), *copy.glob("benchmarks/*.py"))
    others = (path for path in files if path.name != pathlib.Path(__file__).name)
    paths = [path for path in others if old in path.read_text("utf-8")]
    if len(paths) != 1 or paths[0].read_text("utf-8").count(old) != 1:
        raise SystemExit(f"occurs {len(paths)} times instead of once: {old}")
    return paths[0]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="bugs whose area or description has this text")
    return parser.parse_args()


def main() -> None:
    only, unnoticed = arguments().only, 0
    print(f"{'area':12}{'bug':64}caught by")
    for mutation in MUTATIONS:
        if only in f"{mutation.area} {mutation.bug}":
            test = first_failure(mutation)
            unnoticed += not test
            print(f"{mutation.area:12}{mutation.bug:64}{test or 'NOTHING'}", flush=True)
    sys.exit(int(unnoticed > 0))


if __name__ == "__main__":
    main()
