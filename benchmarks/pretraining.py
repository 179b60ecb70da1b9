"""Does pre-training help? SQA after the same fine-tuning steps from three starting points.

    mate-tf --config_file=configs/sqa_small.yaml --mode=create_data \
        --input_dir=data/sqa --bert_vocab_file=vocab.txt --output_dir=out/sqa_small
    mate-tf --config_file=configs/pretrain_small.yaml --mode=create_data \
        --input_dir=out --bert_vocab_file=vocab.txt --output_dir=out/pretrain_small
    python benchmarks/pretraining.py --fine_tuning_data out/sqa_small \
        --pretraining_data out/pretrain_small

The starting points: nothing; masked words learnt with MATE's attention; masked words learnt with
full attention, so that sparse attention comes with fine-tuning only (Table 6 of the paper,
"- sparse pretrain"). Fine-tuning is with MATE's attention each time. What is done already is not
done again: killed, the same command goes on. `--threads 1` twice, with `--seeds 0 1` and with
`--seeds 2`, uses two cores; once more with all seeds prints all results.
"""

import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PRETRAINING = {"MATE": "mate_efficient", "full attention": "full"}
NOTHING = "nothing"
ACCURACY = re.compile(r"^trained \|.*\n(?:  .*\n)*?  answer accuracy +([\d.]+) %", re.MULTILINE)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fine_tuning_data", type=pathlib.Path, required=True)
    parser.add_argument("--pretraining_data", type=pathlib.Path, required=True)
    parser.add_argument("--pretraining_steps", type=int, default=2000)
    parser.add_argument("--steps", type=int, default=400, help="of fine-tuning")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("out/benchmarks"))
    return parser.parse_args()


def train(options, log: pathlib.Path, *flags) -> str:
    """Runs the command line's training, which resumes by itself; returns what it printed."""
    threads = str(options.threads)
    environment = os.environ | {
        "TF_NUM_INTRAOP_THREADS": threads,
        "TF_NUM_INTEROP_THREADS": threads,
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    command = [sys.executable, str(ROOT / "run_task_main.py"), "--mode=train", *flags]
    log.parent.mkdir(parents=True, exist_ok=True)
    print("run |", " ".join(command[1:]), flush=True)
    with open(log, "w", encoding="utf-8") as file:
        subprocess.run(command, env=environment, stdout=file, stderr=file, check=True)
    return log.read_text(encoding="utf-8")


def pretrain(options, name: str) -> pathlib.Path:
    """A folder with a checkpoint of an encoder that has learnt masked words."""
    model_dir = options.pretraining_data / PRETRAINING[name]
    steps = options.pretraining_steps
    if not (model_dir / f"ckpt-{steps}.index").exists():
        train(
            options,
            model_dir / "log.txt",
            f"--config_file={ROOT / 'configs' / 'pretrain_small.yaml'}",
            f"--output_dir={options.pretraining_data}",
            f"--model_dir={model_dir}",
            f"--attention={PRETRAINING[name]}",
            f"--num_train_steps={steps}",
            f"--params_override=trainer.validation_interval={steps}",
        )
    return model_dir / f"ckpt-{steps}"


def fine_tune(options, start: str, seed: int) -> float:
    """Share of the dev questions that are answered with exactly the right cells.

    The right answer to the question before is given.
    """
    name = f"from_{start.replace(' ', '_')}_{options.steps}_{seed}"
    model_dir = options.fine_tuning_data / "pretraining" / name
    result = model_dir / "answer_accuracy.json"
    if not result.exists():
        steps = options.steps
        found = train(
            options,
            model_dir / "log.txt",
            f"--config_file={ROOT / 'configs' / 'sqa_small.yaml'}",
            f"--output_dir={options.fine_tuning_data}",
            f"--model_dir={model_dir}",
            f"--num_train_steps={steps}",
            f"--tf_random_seed={seed}",
            *([] if start == NOTHING else [f"--init_checkpoint={pretrain(options, start)}"]),
            f"--params_override=trainer.validation_interval={steps},trainer.steps_per_loop=100,"
            f"trainer.summary_interval=100,trainer.checkpoint_interval={steps},"
            f"task.train_data.curriculum_steps={steps // 2},task.train_data.seed={seed}",
        )
        result.write_text(json.dumps(float(ACCURACY.findall(found)[-1]) / 100))
    return json.loads(result.read_text())


def plot(results: dict, path: pathlib.Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(5, 3.2))
    for place, values in enumerate(results.values()):
        axes.bar(place, 100 * statistics.mean(values), color="lightsteelblue")
        axes.plot([place] * len(values), [100 * value for value in values], "k.")
    axes.set_xticks(range(len(results)), results)
    axes.set_ylabel("SQA dev, % of questions")
    axes.set_title("Pre-trained with")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    options = arguments()
    results = {
        start: [fine_tune(options, start, seed) for seed in options.seeds]
        for start in (NOTHING, *PRETRAINING)
    }
    print(f"\nSQA dev after {options.steps} steps of fine-tuning with MATE's attention, %")
    print(f"{'pre-trained with':18}{'mean':>7}  seeds {', '.join(map(str, options.seeds))}")
    for start, values in results.items():
        each = "  ".join(f"{100 * value:.1f}" for value in values)
        print(f"{start:18}{100 * statistics.mean(values):7.1f}  {each}")
    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / "pretraining"
    content = {
        "accuracy": results,
        "seeds": list(options.seeds),
        "steps": options.steps,
        "pretraining_steps": options.pretraining_steps,
    }
    path.with_suffix(".json").write_text(json.dumps(content, indent=2))
    plot(results, path.with_suffix(".png"))
    print(f"\nwritten | {path}.json, .png")


if __name__ == "__main__":
    main()
