"""Hugging Face's models, randomly initialised, with their outputs; run by its own interpreter.

python make_huggingface.py write FOLDER     a folder for each case: weights, inputs, outputs
python make_huggingface.py read FOLDER      loads the models in the subfolders called `back`,
                                            and writes their outputs beside them
"""

import json
import pathlib
import shutil
import sys

import numpy as np
import torch
import transformers
from transformers.models.tapas import modeling_tapas

SIZES = {
    "vocab_size": 90,
    "hidden_size": 32,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "initializer_range": 0.3,
}
TAPAS = SIZES | {
    "max_position_embeddings": 40,
    "type_vocab_sizes": [3, 16, 32, 2, 16, 16, 10],
    "max_num_rows": 16,
    "max_num_columns": 8,
}
# Name of the case: class, config.
CASES = {
    "sqa": ("TapasForQuestionAnswering", TAPAS),
    "sqa_empty_column": (
        "TapasForQuestionAnswering",
        TAPAS | {"allow_empty_column_selection": True, "temperature": 0.5},
    ),
    "wtq": ("TapasForQuestionAnswering", TAPAS | {"num_aggregation_labels": 4}),
    "wikisql": (
        "TapasForQuestionAnswering",
        TAPAS
        | {
            "num_aggregation_labels": 4,
            "select_one_column": False,
            "average_logits_per_cell": True,
            "temperature": 0.8,
            "reset_position_index_per_cell": False,
            "max_position_embeddings": 64,
        },
    ),
    "tokens": ("TapasForQuestionAnswering", TAPAS | {"select_one_column": False}),
    "tabfact": ("TapasForSequenceClassification", TAPAS),
    "three_classes": ("TapasForSequenceClassification", TAPAS | {"num_labels": 3}),
    "encoder": ("TapasModel", TAPAS | {"hidden_act": "gelu_new"}),
    "masked_lm": ("TapasForMaskedLM", TAPAS),
    "bert": ("BertModel", SIZES | {"max_position_embeddings": 64, "layer_norm_eps": 1e-5}),
}
SEQ, ROWS, COLUMNS = 60, 5, 3


def table_batch(rng) -> dict[str, np.ndarray]:
    """Two questions on small tables, by mate-tf's names; the second is padded."""
    names = ["segment_ids", "column_ids", "row_ids", "prev_label_ids"]
    names += ["column_ranks", "inv_column_ranks", "numeric_relations"]
    batch = {name: np.zeros([2, SEQ], np.int32) for name in ("input_ids", "input_mask", *names)}
    for example, (question, per_cell) in enumerate(((SEQ - 3 * ROWS * COLUMNS, 3), (9, 2))):
        cells = [(row, column) for row in range(ROWS) for column in range(1, COLUMNS + 1)]
        cells = [(0, 0)] * question + [cell for cell in cells for _ in range(per_cell)]
        used = len(cells)
        batch["row_ids"][example, :used] = [row for row, _ in cells]
        batch["column_ids"][example, :used] = [column for _, column in cells]
        batch["input_ids"][example, :used] = rng.integers(1, SIZES["vocab_size"], used)
        batch["input_mask"][example, :used] = 1
        batch["segment_ids"][example, question:used] = 1
        sizes = {"prev_label_ids": 2, "column_ranks": 6, "inv_column_ranks": 6}
        for name, size in (sizes | {"numeric_relations": 8}).items():
            batch[name][example, question:used] = rng.integers(0, size, used - question)
    return batch


def outputs_of(model, batch) -> dict[str, np.ndarray]:
    """What the model computes, by the names of mate-tf's outputs."""
    config = model.config
    inputs = {name: torch.tensor(value, dtype=torch.long) for name, value in batch.items()}
    given = {"input_ids": inputs.pop("input_ids"), "attention_mask": inputs.pop("input_mask")}
    if config.model_type == "bert":
        given["token_type_ids"] = inputs["segment_ids"]
    else:
        given["token_type_ids"] = torch.stack(list(inputs.values()), dim=-1)
    base = model if model.base_model is model else model.base_model
    with torch.no_grad():
        encoded = base(**given)
    outputs = {"sequence_output": encoded.last_hidden_state, "pooled_output": encoded.pooler_output}
    kind = type(model).__name__
    if kind == "TapasForQuestionAnswering":
        outputs |= question_answering(model, given, encoded.last_hidden_state)
    elif kind == "TapasForSequenceClassification":
        with torch.no_grad():
            outputs["logits_cls"] = model(**given).logits
    elif kind == "TapasForMaskedLM":
        with torch.no_grad():
            outputs["masked_lm_logits"] = model(**given).logits
    return {name: value.numpy() for name, value in outputs.items() if value is not None}


def question_answering(model, given, sequence_output):
    """Logits; with labels of zeros where the model cannot do without."""
    config, labels = model.config, {}
    if not config.select_one_column:
        labels["labels"] = torch.zeros_like(given["input_ids"], dtype=torch.float)
        if config.num_aggregation_labels:
            labels["aggregation_labels"] = torch.zeros(2, dtype=torch.long)
    columns = []
    compute = modeling_tapas.compute_column_logits
    modeling_tapas.compute_column_logits = lambda *args: (
        columns.append(compute(*args)) or columns[0]
    )
    try:
        with torch.no_grad():
            out = model(**given, **labels)
    finally:
        modeling_tapas.compute_column_logits = compute
    with torch.no_grad():
        tokens = modeling_tapas.compute_token_logits(
            sequence_output, config.temperature, model.output_weights, model.output_bias
        )
    return {
        "logits": out.logits,
        "logits_aggregation": out.logits_aggregation,
        "token_logits": tokens,
        "column_logits": columns[0] if columns else None,
    }


def randomise(model, generator):
    """Random values where initialisation puts ones and zeros."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "LayerNorm" in name or name.endswith("bias"):
                parameter += 0.3 * torch.randn(parameter.shape, generator=generator)


def write(folder: pathlib.Path):
    """Weights as safetensors in each case's `model`, and as a .bin of torch.save in `bin`."""
    torch.manual_seed(0)
    batch = table_batch(np.random.default_rng(0))
    for case, (kind, fields) in CASES.items():
        config_class = transformers.BertConfig if kind == "BertModel" else transformers.TapasConfig
        model = getattr(transformers, kind)(config_class(**fields)).eval()
        randomise(model, torch.Generator().manual_seed(1))
        model.save_pretrained(folder / case / "model")
        (folder / case / "bin").mkdir()
        torch.save(model.state_dict(), folder / case / "bin" / "pytorch_model.bin")
        shutil.copy(folder / case / "model" / "config.json", folder / case / "bin")
        np.savez(folder / case / "inputs.npz", **batch)
        np.savez(folder / case / "outputs.npz", **outputs_of(model, batch))
    kind, fields = CASES["sqa"]
    model = getattr(transformers, kind).from_pretrained(folder / "sqa" / "model")
    model.save_pretrained(folder / "sqa" / "shards", max_shard_size="20KB")
    for dtype in (torch.float16, torch.bfloat16):
        name = str(dtype).removeprefix("torch.")
        model.to(dtype).save_pretrained(folder / "sqa" / name)


def read(folder: pathlib.Path):
    """Outputs of the models in `back`, and what their loading had to say."""
    for back in sorted(folder.glob("*/back")):
        kind = json.loads((back / "config.json").read_text())["architectures"][0]
        model, info = getattr(transformers, kind).from_pretrained(back, output_loading_info=True)
        info = {key: sorted(map(str, value)) for key, value in info.items() if value}
        (back.parent / "back.json").write_text(json.dumps(info))
        batch = dict(np.load(back.parent / "inputs.npz"))
        np.savez(back.parent / "back.npz", **outputs_of(model.eval(), batch))
        if (back / "vocab.txt").exists():
            tokenizer = transformers.AutoTokenizer.from_pretrained(back)
            pieces = tokenizer.tokenize("an answer")
            (back.parent / "tokenizer.json").write_text(
                json.dumps([type(tokenizer).__name__, pieces])
            )


if __name__ == "__main__":
    {"write": write, "read": read}[sys.argv[1]](pathlib.Path(sys.argv[2]))
