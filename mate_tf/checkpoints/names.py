"""Names of a model's variables in the reference's (TF1) and in object-based checkpoints."""

import re

import tensorflow as tf

from mate_tf.layers.framework import keras


def checkpoint_variables(model: tf.Module) -> dict[str, tf.Variable]:
    """Returns name in TF1 checkpoints of BERT and TAPAS -> variable of a model.

    A layer or model with a method `checkpoint_variables() -> {name: variable}` names its own
    variables and those of its sublayers.

    Args:
        model: an encoder, or a model with an encoder and heads.
    """
    naming = modules_with(model, "checkpoint_variables")
    parts = {id(part) for module in naming for part in module.submodules}
    variables = {}
    for module in naming:
        if id(module) not in parts:
            variables |= module.checkpoint_variables()
    return variables


def modules_with(model: tf.Module, method: str) -> list[tf.Module]:
    """Returns the model and its submodules that have a method, in the order of `submodules`."""
    return [module for module in (model, *model.submodules) if hasattr(module, method)]


def own_variables(model: tf.Module, stored) -> dict[str, tf.Variable]:
    """Returns name in an object-based checkpoint -> variable of `model`.

    Such a name is the attribute path from the saved object ("model/encoder/blocks/0/…"). The saved
    object may contain `model` or be a part of it. So the model's paths are looked up below each
    prefix in the checkpoint, and the paths of its inner models below the checkpoint's root. The
    combination with the most names in the checkpoint is returned.

    Args:
        stored: names of the checkpoint, without their common suffix.
    """
    paths = variable_paths(model)
    if not paths:
        return {}
    best, most = paths, 0
    for inside in ("", *sorted(_encoder_paths(model))):
        held = {
            path.removeprefix(inside): variable
            for path, variable in paths.items()
            if path.startswith(inside)
        }
        probe = next(iter(held))
        for outside in {name[: -len(probe)] for name in stored if name.endswith("/" + probe)} | {
            ""
        }:
            candidate = {outside + path: variable for path, variable in held.items()}
            matches = len(candidate.keys() & set(stored))
            if matches > most:
                best, most = candidate, matches
    return best


def matching_variables(model: tf.Module, pattern: str) -> list[tf.Variable]:
    """Returns the variables with a name that a regular expression matches, each once.

    A variable has two names: the reference's and the attribute path of `variable_paths`.
    """
    named = [*checkpoint_variables(model).items(), *variable_paths(model).items()]
    return list({id(v): v for name, v in named if re.search(pattern, name)}.values())


def variable_paths(root: tf.Module) -> dict[str, tf.Variable]:
    """Returns attribute path -> variable. Of several paths the shortest, as in checkpoints."""
    view = tf.train.TrackableView(root)
    paths, queue, seen = {}, [("", root)], {id(root)}
    while queue:
        prefix, item = queue.pop(0)
        for name, child in view.children(item).items():
            if id(child) in seen:
                continue
            seen.add(id(child))
            path = prefix + name.replace("/", ".S")
            if isinstance(child, tf.Variable):
                paths[path] = child
            else:
                queue.append((path + "/", child))
    return paths


def _encoder_paths(model: tf.Module) -> set[str]:
    """Returns the attribute paths, with a final slash, of models that are attributes of `model`."""
    return {
        f"{name}/"
        for name, child in tf.train.TrackableView(model).children(model).items()
        if isinstance(child, keras.Model)
    }
