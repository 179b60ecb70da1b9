"""Messages on one line, and what counts as an error of the user."""

from mate_tf import errors


def test_one_line_of_several():
    error = errors.InputError("x.csv: row 3\n\nCall arguments:\n   * a=1")
    assert errors.on_one_line(error) == "x.csv: row 3 Call arguments: * a=1"


def test_a_lost_worker_is_told_as_bad_input_is():
    assert issubclass(errors.LostWorkerError, errors.InputError)
    assert issubclass(errors.InputError, ValueError)
