"""`.ci/run` finds the tests that it repeats with all graphs."""

import pytest

from . import graphs


@pytest.fixture
def without_graphs():
    with graphs.avoided():
        yield


@pytest.fixture
def never_graphs():
    with graphs.eager():
        yield


def is_repeated(request) -> bool:
    return request.node.get_closest_marker("thorough") is not None


def test_a_test_that_avoids_graphs(request):
    with graphs.avoided():
        assert is_repeated(request)


@pytest.mark.usefixtures("without_graphs")
def test_one_of_its_fixtures_does(request):
    assert is_repeated(request)


def test_others_are_not_repeated(request, never_graphs):
    assert not is_repeated(request)
