"""Fixtures of the command line, for whole runs with bad input."""

from ..cli.conftest import (  # noqa: F401  pytest finds them here
    arguments,
    config_file,
    created,
    flags_as_before,
    invoked,
    never_graphs,
    started,
    trained,
)
