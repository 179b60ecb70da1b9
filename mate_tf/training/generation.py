"""Texts that a trained encoder-decoder writes for files of examples."""

from collections.abc import Callable, Iterator

import tensorflow as tf
from tqdm import tqdm

from mate_tf.data import records
from mate_tf.data.converters.tokenizer import Detokenizer
from mate_tf.data.interactions import PADDING_QUESTION_ID
from mate_tf.evaluation.predictions import Prediction
from mate_tf.training import trainer
from mate_tf.training.prediction import INPUTS


def search_options(task) -> dict:
    """Returns the keyword arguments of `EncoderDecoder.generate` for the config of a task.

    Args:
        task: a `TextToTextTaskConfig`.
    """
    options = task.decoding.as_dict()
    options["max_length"] = options["max_length"] or task.conversion.max_target_length - 1
    return options


def generate(experiment, model_dir: str, records_path: str) -> Iterator[Prediction]:
    """Runs the last checkpoint in `model_dir` over examples, with a line of progress.

    Args:
        experiment: the `TableExperiment` that trained it; `task.decoding` has the options of the
            search.
        model_dir: folder with checkpoints.
        records_path: TFRecord files of examples, a path or pattern.

    Returns:
        iterator over predictions with one text and its score, in any order.

    Raises:
        InputError: if there is no checkpoint, the checkpoint is of another model, an option of the
            search is out of its range, or there are no such files.
    """
    return generator(experiment, model_dir)(records_path)


def generator(experiment, model_dir: str) -> Callable[[str], Iterator[Prediction]]:
    """Loads the last checkpoint in `model_dir`, once for several files of examples.

    Args:
        experiment, model_dir: see `generate`.

    Returns:
        function of `records_path`; see `generate`.

    Raises:
        InputError: if there is no checkpoint, or the checkpoint is of another model.
    """
    task, data = experiment.task, experiment.task.validation_data
    model = trainer.load_model(experiment, model_dir)
    detokenize = Detokenizer(task.conversion.bert_vocab_file)
    options = search_options(task)
    kind = f"beam of {options['beam_size']}" if options["beam_size"] > 1 else "greedy search"
    written = tf.function(
        lambda inputs: model.generate(inputs, **options), input_signature=[INPUTS], autograph=False
    )

    def run(records_path):
        batches = records.dataset(
            records_path,
            data.global_batch_size,
            seq_length=task.conversion.max_seq_length,
            buckets=list(data.buckets) or None,
        )
        total = records.count_records(records_path)
        with tqdm(desc=kind, unit=" texts", total=total, disable=None) as progress:
            for batch in batches.as_numpy_iterator():
                found = written({name: batch[name] for name in INPUTS})
                rows = zip(
                    batch["question_id"], found["ids"].numpy(), found["scores"].numpy(), strict=True
                )
                for (name,), ids, score in rows:
                    name = name.decode("utf-8")
                    if name != PADDING_QUESTION_ID:
                        yield Prediction(name, (), texts=(detokenize(ids),), score=float(score))
                    progress.update()

    return run
