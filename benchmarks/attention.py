"""Speed and memory of attention variants and of peers side by side: two BERT-base layers, batch 1.

    python benchmarks/attention.py                              # time, plain and XLA
    python benchmarks/attention.py --training --lengths 2048 4096
    python benchmarks/attention.py --memory                     # peak memory, a process per length
    python benchmarks/attention.py --training --memory --recompute --lengths 8192
    python benchmarks/attention.py --precisions float32 bfloat16 --compile plain
    python benchmarks/attention.py --compile plain --peers_python /opt/venvs/peers/bin/python

The last one takes Hugging Face's TAPAS and the listing of MATE's appendix D into the same turns;
`peers/requirements.txt` says what the other interpreter needs. `--mode=profile` does the same but
for the peers; `mate_tf.analysis.cost.profile` says how, and what the columns mean. The share of the
matmul rate counts only the products MATE asks for (global rows, and G + 3R keys for every other
token), not the ones its blocks add.
"""

import argparse
import json
import shutil
import sys

import common

from mate_tf.analysis.cost import encoder_worker, profile
from mate_tf.errors import InputError
from mate_tf.models.encoder_config import EncoderConfig

LENGTHS = (512, 1024, 2048, 4096, 8192)
VARIANTS = ("full", "mate_exact", "mate_efficient")
PEERS = common.ROOT / "benchmarks" / "peers"
APPENDIX_D, HUGGING_FACE = PEERS / "appendix_d.py", PEERS / "hugging_face.py"
ENCODER = {"num_hidden_layers": 2}
"""Of BERT-base otherwise, and of `mate_efficient` the paper's G = 116 and R = 42."""


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    parser.add_argument("--variants", nargs="+", default=VARIANTS)
    parser.add_argument("--precisions", nargs="+", default=("float32",))
    parser.add_argument("--compile", choices=("plain", "xla", "both"))
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--training", action="store_true", help="forward and backward pass")
    parser.add_argument("--recompute", action="store_true", help="layers again for their gradients")
    parser.add_argument("--memory", action="store_true", help="peak memory instead of time")
    parser.add_argument("--peers_python", help="interpreter with torch and transformers")
    return parser.parse_args()


def settings(args):
    """The `profile.Settings` asked for."""
    encoder_worker.load(APPENDIX_D)
    config = EncoderConfig(**ENCODER, recompute=args.recompute)
    variants, peers = [*args.variants], {}
    if args.peers_python:
        python = shutil.which(args.peers_python)
        if python is None:
            sys.exit(f"--peers_python={args.peers_python}: no such program")
        of_peer = json.dumps({"config": config.as_dict(), "threads": args.threads})
        peers["hugging_face_tapas"] = [python, str(HUGGING_FACE), of_peer]
        variants.append("appendix_d")
    return profile.Settings(
        config=config,
        lengths=tuple(args.lengths),
        variants=tuple(dict.fromkeys(variants)),
        precisions=tuple(args.precisions),
        compiled=args.compile or ("plain" if args.memory else "both"),
        passes=("training" if args.training else "forward",),
        time=not args.memory,
        memory=args.memory,
        threads=args.threads,
        repeats=args.repeats,
        peers=peers,
        variant_files=(str(APPENDIX_D),),
    )


def main() -> None:
    args = arguments()
    name = "attention_" + ("memory" if args.memory else "speed")
    name += ("_training" if args.training else "") + ("_recompute" if args.recompute else "")
    try:
        profile.run(settings(args), args.output, name)
    except InputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
