"""Hugging Face's pipeline for table questions on request, by the interpreter of its environment.

    python table_questions.py '{"threads": 2}'

Requests: `load` a folder, `ask` a list of questions with columns, rows and question.
"""

import json
import pathlib
import resource
import sys
import time

import pandas as pd
import torch
import transformers

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))

from mate_tf.analysis.cost import measuring_process  # the standard library only


class Questions:
    """Handlers of the requests, one method each."""

    def __init__(self):
        self._pipeline = None

    def load(self, folder: str, max_seq_length: int, precision: str = "float32") -> dict:
        """Loads model and tokenizer, which drops rows beyond a length. Returns the seconds."""
        start = time.perf_counter()
        self._pipeline = transformers.pipeline(
            "table-question-answering", model=folder, tokenizer=folder, device="cpu"
        )
        model = self._pipeline.model.to(getattr(torch, precision))
        model.register_forward_hook(_with_float_logits)
        self._pipeline.tokenizer.model_max_length = max_seq_length
        return {"seconds": time.perf_counter() - start}

    def ask(self, asked: list[dict], batch_size: int) -> dict:
        """Answers questions.

        Returns:
            seconds: of all; answers: [cells, operation] each; peak: memory of the process, bytes.
        """
        start = time.perf_counter()
        tables = [pd.DataFrame(each["rows"], columns=each["columns"], dtype=str) for each in asked]
        given = [
            {"table": table, "query": each["question"]}
            for table, each in zip(tables, asked, strict=True)
        ]
        if batch_size == 1:
            said = [self._pipeline(each) for each in given]
        else:
            said = self._by_batches(given, batch_size)
        seconds = time.perf_counter() - start
        answers = [
            [sorted(map(list, each["coordinates"])), each.get("aggregator", "NONE")]
            for each in said
        ]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"seconds": seconds, "answers": answers, "peak": peak}

    def _by_batches(self, given: list[dict], batch_size: int) -> list[dict]:
        """The steps of the pipeline, with the model called for several examples at a time.

        Its own batches fail for different tables. The examples are sorted by length.
        """
        pipeline = self._pipeline
        inputs = [pipeline.preprocess(each) for each in given]
        order = sorted(range(len(inputs)), key=lambda index: inputs[index]["input_ids"].shape[1])
        said = {}
        for start in range(0, len(order), batch_size):
            batch = order[start : start + batch_size]
            names = [name for name in inputs[batch[0]] if name != "table"]
            padded = {
                name: torch.nn.utils.rnn.pad_sequence(
                    [inputs[index][name][0] for index in batch], batch_first=True
                )
                for name in names
            }
            with torch.inference_mode():
                outputs = pipeline.model(**padded)
            for row, index in enumerate(batch):
                length = inputs[index]["input_ids"].shape[1]
                logits = [outputs.logits[row : row + 1, :length]]
                if outputs.logits_aggregation is not None:
                    logits.append(outputs.logits_aggregation[row : row + 1])
                said[index] = pipeline.postprocess(
                    {
                        "model_inputs": {name: inputs[index][name] for name in names},
                        "table": given[index]["table"],
                        "outputs": logits,
                    }
                )
        return [said[index] for index in range(len(inputs))]


def _with_float_logits(model, given, outputs):
    """Converts the logits for NumPy, which the pipeline decodes with: it lacks bfloat16."""
    for name in ("logits", "logits_aggregation"):
        if outputs.get(name) is not None:
            outputs[name] = outputs[name].float()
    return outputs


def main() -> None:
    torch.set_num_threads(json.loads(sys.argv[1])["threads"])
    transformers.logging.set_verbosity_error()
    questions = Questions()
    measuring_process.serve({"load": questions.load, "ask": questions.ask})


if __name__ == "__main__":
    main()
