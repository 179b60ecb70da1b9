"""Messages on one line, and what counts as an error of the user."""

import gin
import pytest

from mate_tf import errors


def test_one_line_of_several():
    error = errors.InputError("x.csv: row 3\n\nCall arguments:\n   * a=1")
    assert errors.on_one_line(error) == "x.csv: row 3 Call arguments: * a=1"


def test_without_the_calls_that_gin_adds():
    @gin.configurable
    def build():
        raise errors.InputError("train.tfrecord: its examples have 1024 tokens")

    with pytest.raises(errors.InputError, match="In call to configurable") as caught:
        build()
    assert errors.on_one_line(caught.value) == "train.tfrecord: its examples have 1024 tokens"


def test_a_lost_worker_is_told_as_bad_input_is():
    assert issubclass(errors.LostWorkerError, errors.InputError)
    assert issubclass(errors.InputError, ValueError)


class OpError(Exception):
    """Stands in for TensorFlow's."""


class InvalidArgumentError(OpError):
    """Stands in for TensorFlow's."""


def test_a_record_that_is_no_example():
    error = InvalidArgumentError(
        "{{function_node __wrapped__IteratorGetNext}} Key: label_ids.  Number of int64 values != "
        "expected.  Values size: 63 but output shape: [64]\n\t [[{{node "
        "ParseSingleExample/ParseExample/ParseExampleV2}}]] [Op:IteratorGetNext] name: "
    )
    assert errors.is_of_files(error)
    assert errors.on_one_line(error) == (
        "an example of the records cannot be read, create them again: Key: label_ids. Number of "
        "int64 values != expected. Values size: 63 but output shape: [64]"
    )
    assert not errors.is_of_files(InvalidArgumentError("Incompatible shapes: [2] vs. [3]"))


class UnknownError(OpError):
    """Stands in for TensorFlow's."""


@pytest.mark.parametrize(
    "message",
    [
        "vocab.txt; Too many levels of symbolic links",
        "{{function_node Next}} train.tfrecord; Input/output error [Op:IteratorGetNext] name: ",
        "gone; Stale file handle",
    ],
)
def test_errors_of_the_system_without_a_class(message):
    assert errors.is_of_files(UnknownError(message))
    assert not errors.is_of_files(UnknownError("CUDA failed; unknown cause"))
    assert not errors.is_of_files(RuntimeError(message))


def test_values_of_records_that_the_model_cannot_have():
    for message, said in (
        (
            "{{function_node x}} indices[0,3] = 1000000 is not in [0, 256) [[{{node y}}]]",
            "it has the id 1000000 where the model has 256",
        ),
        (f"assertion failed: [{errors.NO_MASK}] [[{{{{node Assert}}}}]]", errors.NO_MASK),
    ):
        error = InvalidArgumentError(message)
        assert errors.is_of_files(error)
        assert errors.on_one_line(error) == (
            f"an example of the records cannot be read, create them again: {said}"
        )
