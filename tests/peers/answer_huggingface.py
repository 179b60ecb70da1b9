"""Hugging Face's table question answering: models with random weights, and its answers.

python answer_huggingface.py write FOLDER SETTINGS
    writes a model with its tokenizer; SETTINGS is JSON: class, config, vocab_file
python answer_huggingface.py answer FOLDER QUESTIONS ANSWERS
    answers a JSON list of questions: columns, rows, question

Each answer has: input_ids and token_types (<int>[tokens] and [tokens, 7], what the model read),
coordinates and aggregator (the pipeline's), cells ([row, column, probability] each), aggregation
and classes (probabilities); or error, if there is none.
"""

import collections
import json
import pathlib
import sys

import pandas as pd
import torch
import transformers


def write(folder: pathlib.Path, settings: dict) -> None:
    """Writes weights, config and tokenizer as `save_pretrained` does."""
    torch.manual_seed(0)
    kind = getattr(transformers, settings["class"])
    model = kind(transformers.TapasConfig(**settings["config"])).eval()
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "LayerNorm" in name or name.endswith("bias"):
                parameter += 0.1 * torch.randn(parameter.shape, generator=generator)
        if hasattr(model, "output_weights"):  # some cells are chosen, others are not
            ids = torch.randint(1000, model.config.vocab_size, [1, 128], generator=generator)
            hidden = model.tapas(ids).last_hidden_state
            model.output_bias.copy_(-(hidden @ model.output_weights).mean())
    model.save_pretrained(folder)
    transformers.TapasTokenizer(settings["vocab_file"]).save_pretrained(folder)


def answer(folder: pathlib.Path, questions: list[dict]) -> list[dict]:
    """Answers each question by itself."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    kind = json.loads((folder / "config.json").read_text())["architectures"][0]
    model = getattr(transformers, kind).from_pretrained(folder).eval()
    if kind == "TapasForQuestionAnswering":
        ask = transformers.pipeline(
            "table-question-answering", model=model, tokenizer=tokenizer, device="cpu"
        )
    else:  # no pipeline takes these

        def ask(table, query):
            inputs = tokenizer(table, query, return_tensors="pt", truncation="drop_rows_to_fit")
            with torch.no_grad():
                model(**inputs)

    seen = {}
    model.register_forward_hook(
        lambda module, args, inputs, outputs: seen.update(inputs=inputs, outputs=outputs),
        with_kwargs=True,
    )
    answers = []
    for each in questions:
        seen.clear()
        table = pd.DataFrame(each["rows"], columns=each["columns"], dtype=str)
        try:
            said = ask(table=table, query=each["question"]) or {}
        except Exception as error:  # whatever it fails with is its answer
            answers.append({"error": f"{type(error).__name__}: {error}"})
        else:
            answers.append(_described(said, **seen))
    return answers


def _described(said, inputs, outputs) -> dict:
    """What was read, computed and said, as JSON values."""
    token_types = inputs["token_type_ids"][0].tolist()
    found = {"input_ids": inputs["input_ids"][0].tolist(), "token_types": token_types}
    if not said:
        return found | {"classes": torch.softmax(outputs.logits, -1)[0].tolist()}
    found |= {"coordinates": said["coordinates"], "aggregator": said.get("aggregator")}
    found["cells"] = _cells(torch.sigmoid(outputs.logits)[0].tolist(), token_types)
    if outputs.logits_aggregation is not None:
        found["aggregation"] = torch.softmax(outputs.logits_aggregation, -1)[0].tolist()
    return found


def _cells(probabilities, token_types) -> list:
    """[row, column, mean over the tokens] of each data cell."""
    cells = collections.defaultdict(list)
    for probability, (_, column, row, *_) in zip(probabilities, token_types, strict=True):
        if row and column:
            cells[row - 1, column - 1].append(probability)
    return [[*cell, sum(values) / len(values)] for cell, values in sorted(cells.items())]


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    target = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "write":
        write(target, json.loads(pathlib.Path(sys.argv[3]).read_text()))
    else:
        asked = json.loads(pathlib.Path(sys.argv[3]).read_text())
        pathlib.Path(sys.argv[4]).write_text(json.dumps(answer(target, asked)))
