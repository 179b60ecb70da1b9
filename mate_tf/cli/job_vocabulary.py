"""The vocabulary of a job: the user's, the checkpoint's, the task's own, or one from the data."""

import os
import shutil

from mate_tf.data.converters.learned_vocabulary import learn
from mate_tf.data.converters.tokenizer import read_vocabulary
from mate_tf.errors import InputError
from mate_tf.files.atomic import atomic_path, write_text
from mate_tf.serving import huggingface_vocabulary as tokenizers

VOCABULARY_FILE = "vocab.txt"
"""Vocabulary of the examples, in the output folder."""

MODES_THAT_CREATE = ("run", "create_data")
"""Modes that make examples. The others use the vocabulary of the examples that are there."""

MOST_PIECES = 8000
"""Largest vocabulary that is built from data. It is smaller if the model has fewer embeddings."""


def find(task, mode: str, output_dir: str) -> str:
    """Returns the path of the vocabulary where the configuration names none; "" without one."""
    own = os.path.join(output_dir, VOCABULARY_FILE)
    if task.capabilities.makes_vocabulary:
        return own
    checkpoint = task.task_config.init_checkpoint
    if checkpoint and mode in MODES_THAT_CREATE:
        path = beside(checkpoint)
        if path:
            return path
    builds = task.capabilities.builds_vocabulary and not checkpoint
    return own if builds or os.path.exists(own) else ""


def beside(checkpoint: str) -> str | None:
    """Returns the path of the vocabulary in the folder of a checkpoint; None if there is none."""
    folder = checkpoint if os.path.isdir(checkpoint) else os.path.dirname(checkpoint)
    names = [VOCABULARY_FILE, "tokenizer.json"]
    if os.path.isfile(os.path.join(folder, "params.yaml")):
        names.append(os.path.join(os.pardir, VOCABULARY_FILE))  # of a --model_dir
    paths = (os.path.join(folder, name) for name in names)
    path = next(filter(os.path.isfile, paths), None)
    return path and tokenizers.text_file(path)


def make(job) -> None:
    """Writes the vocabulary if the task makes or builds its own, and says which one is used.

    Raises:
        InputError: if there is none.
    """
    config, own = job.experiment.task, os.path.join(job.output_dir, VOCABULARY_FILE)
    able, path = job.task.capabilities, config.conversion.bert_vocab_file
    if not path and config.init_checkpoint:
        raise InputError(
            f"--init_checkpoint={config.init_checkpoint}: has no {VOCABULARY_FILE} next to it; "
            "give its vocabulary as --bert_vocab_file=FILE"
        )
    # A vocabulary elsewhere must exist; otherwise a misspelt path would create a file.
    if able.makes_vocabulary and path == own:
        job.task.make_vocabulary(own)
    elif able.builds_vocabulary and path == own and not os.path.exists(own):
        size = min(MOST_PIECES, config.model.encoder.vocab_size)
        pieces = learn(job.task.interactions(job.input_dir, job.task.splits[0]), size)
        write_text(own, "".join(f"{piece}\n" for piece in pieces))
        print(f"vocabulary | {own}: {len(pieces)} pieces, built from the training data", flush=True)
        return
    print(f"vocabulary | {job.vocab_file}: {len(read_vocabulary(job.vocab_file))} pieces")


def keep(job) -> None:
    """Copies the vocabulary to the folder of the examples, which are useless without it."""
    path = os.path.join(job.output_dir, VOCABULARY_FILE)
    if not (os.path.exists(path) and os.path.samefile(path, job.vocab_file)):
        with atomic_path(path) as temporary:
            shutil.copyfile(job.vocab_file, temporary)
