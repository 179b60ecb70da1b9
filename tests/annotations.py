"""Annotations of tf-models' configurations, which it reads anew for each key."""

import functools
import sys


def read_once() -> None:
    """Keeps the annotations of each class: a third of the time of tests of configurations."""
    module = sys.modules.get("official.modeling.hyperparams.base_config")
    if module is None:
        return
    read = functools.cache(vars(module.Config)["_get_annotations"].__func__)
    module.Config._get_annotations = classmethod(lambda cls: dict(read(cls)))
