"""Adds layers to a trained model that leave what it computes nearly as it is: the start of `small`.

    python benchmarks/deeper.py models/mini out/deeper --after 1 3

Behind each of the given layers comes a copy of it whose two matmuls that add to its input give 0
(block expansion: LLaMA Pro, Wu et al., 2024). Its layer normalizations, which a BERT has behind the
sums, get the mean and the deviation that their input has on average, so they change little.

The folder has the files of the model but its confidence, for --init_checkpoint.
"""

import argparse
import pathlib
import re
import shutil
import sys
from collections.abc import Mapping, Sequence

import common
import numpy as np
import yaml

from mate_tf.checkpoints import safetensors

_LAYER = re.compile(r"bert/encoder/layer_(\d+)/(.*)")
_ADDED = ("attention/output/dense", "output/dense")
_NORMALIZED = ("attention/output/LayerNorm", "output/LayerNorm")


def deeper(weights: Mapping[str, np.ndarray], after: Sequence[int]) -> dict[str, np.ndarray]:
    """Returns weights with a copied layer behind each of `after`, by the names of TAPAS."""
    layers: dict[int, dict[str, np.ndarray]] = {}
    result = {}
    for name, values in weights.items():
        match = _LAYER.fullmatch(name)
        if match:
            layers.setdefault(int(match[1]), {})[match[2]] = values
        else:
            result[name] = values
    stacked = []
    for number in sorted(layers):
        stacked.append(layers[number])
        if number in after:
            stacked.append(_idle(layers[number]))
    for number, layer in enumerate(stacked):
        result |= {f"bert/encoder/layer_{number}/{name}": layer[name] for name in layer}
    return result


def _idle(layer: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    gamma, beta = (layer[f"output/LayerNorm/{name}"] for name in ("gamma", "beta"))
    deviation = np.sqrt(np.mean(gamma**2) + np.var(beta))
    idle = dict(layer)
    for name in _ADDED:
        for part in ("kernel", "bias"):
            idle[f"{name}/{part}"] = np.zeros_like(layer[f"{name}/{part}"])
    for name in _NORMALIZED:
        idle[f"{name}/gamma"] = np.full_like(gamma, deviation)
        idle[f"{name}/beta"] = np.full_like(beta, np.mean(beta))
    return idle


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("model", type=pathlib.Path, help="folder of a model, as a preset is")
    parser.add_argument("folder", type=pathlib.Path, help="of the deeper one")
    parser.add_argument("--after", type=int, nargs="+", required=True, help="numbers of layers")
    return parser.parse_args()


def main() -> None:
    """Writes the deeper model and the number of its layers."""
    args = arguments()
    config = yaml.safe_load((args.model / "config.yaml").read_text())
    encoder = config["task"]["model"]["encoder"]
    if not set(args.after) <= set(range(encoder["num_hidden_layers"])):
        sys.exit(f"--after: {args.model} has {encoder['num_hidden_layers']} layers")
    stored = safetensors.read(str(args.model / "model.safetensors"))
    weights = {name: tensor.read() for name, tensor in stored.items()}
    args.folder.mkdir(parents=True, exist_ok=True)
    encoder["num_hidden_layers"] += len(set(args.after))
    safetensors.write(str(args.folder / "model.safetensors"), deeper(weights, args.after))
    shutil.copy(args.model / "vocab.txt", args.folder)
    (args.folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    common.write(args, "deeper", {"layers": encoder["num_hidden_layers"]})
    print(f"written | {args.folder}: {encoder['num_hidden_layers']} layers")


if __name__ == "__main__":
    main()
