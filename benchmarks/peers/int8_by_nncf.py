"""Weights and values in 8 bits by NNCF beside the engine's own: time, and answers that change.

    uv venv nncf && uv pip install -p nncf -r requirements-answers.txt nncf
    PYTHONPATH=. nncf/bin/python benchmarks/peers/int8_by_nncf.py --input_dir data/wikitq

The preset answers questions of WikiTableQuestions dev in each way, one at a time and in turns. What
NNCF fits by examples has seen other questions of dev. Prints a table.
"""

import argparse
import itertools
import statistics
import time

import nncf

from mate_tf.data.datasets import wikitq
from mate_tf.data.interactions import table_of
from mate_tf.serving.engine import graph
from mate_tf.serving.engine import model as engine
from mate_tf.serving.predictor import Predictor

GROUPS = engine._options(engine.INT8)
BY_LAYER = {name: value for name, value in GROUPS.items() if "GROUP" not in name}
WAYS = {
    "float32": None,
    "bfloat16": None,
    "int8": None,
    "nncf.compress_weights, symmetric": (nncf.CompressWeightsMode.INT8_SYM, GROUPS),
    "nncf.compress_weights, asymmetric": (nncf.CompressWeightsMode.INT8_ASYM, GROUPS),
    "nncf.quantize": (None, BY_LAYER),
}
"""Way -> mode of compression, if it is NNCF's, and options of OpenVINO."""


def encoder(predictor: Predictor) -> engine.EngineModel:
    """Returns what computes the preset's encoder."""
    return predictor._model._model


def recorded(predictor: Predictor, questions) -> dict[str, list]:
    """Asks questions; returns what the encoder computes: form of its graph -> inputs of each."""
    model, found = encoder(predictor), {}
    encode = model._encode

    def record(pattern, features):
        inputs = model._embedded(features) | pattern.inputs(features)
        found.setdefault(type(pattern).__name__, []).append(inputs)
        return encode(pattern, features)

    model._encode = record
    for table, text in questions:
        predictor.ask(table, text)
    del model._encode
    return found


def by_nncf(mode, options, examples: dict[str, list]) -> Predictor:
    """Returns the preset with NNCF's graphs."""
    predictor = Predictor.from_preset(precision="float32")
    model = encoder(predictor)
    for pattern in (model._dense, model._windows):
        name = type(pattern).__name__
        made = graph.encoder(model._encoder, model._sizes, model._tables, pattern)
        if mode is not None:
            made = nncf.compress_weights(made, mode=mode)
        else:
            made = nncf.quantize(
                made,
                nncf.Dataset(examples[name]),
                subset_size=len(examples[name]),
                model_type=nncf.ModelType.TRANSFORMER,
            )
        options = {"PERFORMANCE_HINT": "LATENCY"} | options
        compiled = engine._core().compile_model(made, "CPU", options)
        model._compiled[name] = compiled.create_infer_request()
    return predictor


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--input_dir", required=True, help="of WikiTableQuestions")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--examples", type=int, default=100, help="that NNCF fits by")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    given = itertools.islice(wikitq.read(options.input_dir, "dev"), 0, None, 9)
    given = [(table_of(each), each.questions[0].text) for each in given]
    questions, examples = given[: options.questions], given[-options.examples :]
    seen = recorded(Predictor.from_preset(precision="float32"), examples)
    predictors = {
        way: Predictor.from_preset(precision=way) if how is None else by_nncf(*how, seen)
        for way, how in WAYS.items()
    }
    for predictor in predictors.values():  # so that nothing is compiled while it is measured
        model = encoder(predictor)
        for pattern in (model._dense, model._windows):
            model._request(pattern)
    print(f"asking | {len(questions)} questions", flush=True)
    times, found = {way: [] for way in WAYS}, {way: [] for way in WAYS}
    for number, (table, text) in enumerate(questions):
        # Whoever follows another way has the question's data in the processor's cache.
        for way in itertools.islice(itertools.cycle(WAYS), number, number + len(WAYS)):
            predictor = predictors[way]
            begin = time.perf_counter()
            answer = predictor.ask(table, text)
            times[way].append(time.perf_counter() - begin)
            found[way].append((answer.coordinates, answer.aggregation, answer.answerable))
    exact = next(iter(found.values()))
    print("| | ms a question, median | mean | other answers than in float32 |\n|---|---|---|---|")
    for way, answers in found.items():
        middle, mean = (1000 * of(times[way]) for of in (statistics.median, statistics.mean))
        others = sum(own != other for own, other in zip(answers, exact, strict=True))
        print(f"| {way} | {middle:.1f} | {mean:.1f} | {others} of {len(exact)} |")


if __name__ == "__main__":
    main()
