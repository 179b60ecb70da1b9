"""The list of bugs fits the library; running all of it takes minutes and is done by hand."""

import pytest


@pytest.fixture(scope="module")
def benchmark(load_benchmark):
    return load_benchmark("mutations")


def test_each_can_be_put_in(benchmark, project):
    assert len(benchmark.MUTATIONS) >= 15
    for mutation in benchmark.MUTATIONS:
        assert benchmark._file_with(project, mutation.old).is_file()
        assert mutation.new != mutation.old
        assert all((project / path).is_file() for path in mutation.tests), mutation.tests


@pytest.mark.parametrize(
    ("new", "caught_by"),
    [("count >= 1)", "test_most_frequent_values_of_each_column"), ("1 < count)", "")],
)
def test_names_the_test_that_fails(benchmark, new, caught_by):
    """The second of these is no bug."""
    mutation = benchmark.Mutation(
        "tables", "single values too", "count > 1)", new, ("tests/tables/test_histogram.py",)
    )
    assert benchmark.first_failure(mutation).rpartition("::")[2] == caught_by
