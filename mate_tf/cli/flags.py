"""All command line flags. Flags that google-research/tapas also has keep its names.

This module imports absl and the limits of tables only, so that `--help` is fast.
"""

from absl import flags

from mate_tf.tables.limits import Limits

MODES = {
    "run": "the whole job: create_data, train, predict_and_evaluate, export, example questions",
    "create_data": "official files or generated tables -> interactions and TF examples",
    "train": "train, resuming from the last checkpoint in --model_dir",
    "eval": "loss and metrics of the last checkpoint on the evaluation examples",
    "predict": "write predictions as TSV and JSON",
    "predict_and_evaluate": "predict, then print scores with those of the baselines",
    "glue": "scores of GLUE's tasks in folders below --output_dir, their means, submission.zip",
    "export": "write a SavedModel",
    "analyze": "plot, print and write as JSON what a trained model attends to",
    "profile": "time, FLOPs and memory of --variants at --lengths: table, JSON, plots",
    "ask": "answer --question about --table with an exported model or --init_checkpoint",
    "demo": "a web page on --port for questions to an exported model or --init_checkpoint",
    "serve": "answers over HTTP on --port: JSON, files, batches, metrics",
    "mcp": "a tool for agents: the Model Context Protocol over standard input and output",
}

FLAGS = flags.FLAGS

LENGTHS = [str(2**power) for power in range(7, 15)]

_TEXTS = {
    "task": "Task, for example SQA; by default that of the configuration file.",
    "config_file": "YAML experiment, for example configs/quickstart.yaml.",
    "input_dir": "Folder with the data set's official files.",
    "output_dir": "Folder for interactions and examples; out/<configuration or task>.",
    "model_dir": "Folder for checkpoints, summaries, predictions; <output_dir>/model.",
    "export_dir": "Folder of the SavedModel; <model_dir>/export.",
    "bert_vocab_file": "WordPiece vocabulary, one piece per line.",
    "bert_config_file": "bert_config.json with the encoder's sizes.",
    "init_checkpoint": (
        "BERT, TAPAS, mate-tf or Hugging Face checkpoint or folder, a preset (mini), or a name on "
        "the Hugging Face hub (owner/name or owner/name@revision): to train from; ask, demo, "
        "serve, mcp, predict, export and analyze use it as it is."
    ),
    "attention": "Attention variant, for example mate_efficient.",
    "delimiter": "Delimiter of the cells of --table; detected by default.",
    "encoding": "Encoding of --table, for example cp1252; detected by default.",
    "sheet": "Sheet of a workbook; by default the first visible one with a table.",
    "query": "SQL for a --table that is a database.",
    "tpu_name": "Name of the TPU; by default the TPU of this machine.",
    "tpu_zone": "Zone of the TPU; by default this machine's.",
    "gcp_project": "Project of the TPU; by default this machine's.",
    "table": "Table to ask about: a file, or the URL of a database.",
    "folder": "mcp: folder in which agents may read tables; by default the current one.",
    "passages": "Texts about cells of --table: a folder of CELL.txt, JSON lines of cell and text, "
    "or HybridQA's .json, with a --table of its format.",
}
"""Flags with a text."""

_SWITCHES = {
    "skip_mismatched": "Skip variables of another shape in --init_checkpoint.",
    "reset_output_cls": "Skip the classification head in --init_checkpoint.",
    "reset_position_index_per_cell": "Count positions from 0 in each cell (long tables).",
    "drop_rows_to_fit": "Drop the last rows of a table that is too long.",
    "prune_columns": (
        "If a table is too long, first drop the columns that match the question least."
    ),
    "prune_rows": "If a table is too long, first drop the rows that match the question least.",
    "fill_cells": "Use all tokens when cells must be shortened: shorten the longest cells first.",
    "use_document_title": "Append the table's title to the question.",
    "expand_entity_descriptions": "Append sentences about the entities that cells link to.",
    "use_entity_title": "Put the entity's name before its sentences.",
    "update_answer_coordinates": "Label the cells that contain the answer's text.",
    "whole_tables": (
        "predict and predict_and_evaluate: answer as ask does, over all rows of every table; "
        "otherwise over the part in the examples."
    ),
    "calibrate": (
        "predict_and_evaluate, export and run (where it is the default for tables): fit the "
        "confidence of answers to the dev questions, with a threshold below which there is no "
        "answer."
    ),
}
"""Flags that are true, false, or not given."""

_COUNTS = {
    "global_length": (None, "Tokens in the global part (G)."),
    "radius": (None, "Bucket length of the long part (R)."),
    "train_batch_size": (None, "Examples per training step."),
    "test_batch_size": (None, "Examples per evaluation step."),
    "gradient_accumulation_steps": (None, "Batches per update of the variables."),
    "num_train_steps": (None, "Training steps."),
    "num_tpu_cores": (8, "tpu_estimator: cores of the TPU."),
    "iterations_per_loop": (1000, "tpu_estimator: steps on the TPU at a time."),
    "num_processes": (2, "Processes that convert examples."),
    "max_upload_mb": (128, "demo and serve: largest upload, in MiB."),
    "workers": (1, "serve: number of processes, each with its own copy of the model."),
    "max_batch": (16, "serve: largest number of questions in a batch."),
    "max_waiting": (64, "serve: questions that may wait; others are told to try again."),
    "timeout": (30, "serve and mcp: seconds for an answer."),
    "max_tables": (100, "serve: number of posted tables to keep."),
    "max_tables_mb": (256, "serve: memory of these tables, in MiB."),
    "threads": (None, "profile: number of threads; by default one per CPU."),
    "repeats": (9, "profile: number of runs; results are their medians."),
}
"""Flags with a number from 1 on -> default, help."""

_LIMITS = {
    "max_table_mb": "Largest file of --table, in MiB.",
    "max_table_cells": (
        "Most cells of --table, header included; a note says which rows are not read."
    ),
    "max_table_characters": (
        "Most characters in all cells of --table; a note says which rows are not read."
    ),
    "max_table_columns": "Most columns of --table.",
    "max_cell_characters": "Most characters in a cell of --table.",
    "max_unpacked_mb": "Largest unpacked size of an .xlsx file, in MiB.",
    "max_zip_ratio": "Largest ratio of an .xlsx file's unpacked size to its size.",
}
"""Limits of --table, with the defaults of `Limits`."""

for _name, _help in _TEXTS.items():
    flags.DEFINE_string(_name, None, _help)
for _name, _help in _SWITCHES.items():
    flags.DEFINE_boolean(_name, None, _help)
for _name, (_default, _help) in _COUNTS.items():
    flags.DEFINE_integer(_name, _default, _help, lower_bound=1)
for _name, _help in _LIMITS.items():
    flags.DEFINE_integer(_name, getattr(Limits(), _name), _help, lower_bound=1)

flags.DEFINE_integer(
    "header_row",
    None,
    "Line (or row of a sheet) of --table with the column names, from 1; 0 if there is none.",
    lower_bound=0,
)
flags.DEFINE_enum("mode", "run", list(MODES), "Mode, see above.")
flags.DEFINE_multi_string(
    "params_override",
    [],
    "Values that override the configuration: a YAML file, 'a.b=1,c.d=x' or a YAML string.",
)
flags.DEFINE_float(
    "row_heads_ratio", None, "Share of the heads that are row heads.", lower_bound=0, upper_bound=1
)
flags.DEFINE_integer("max_seq_length", None, "Tokens per example.", lower_bound=8)
flags.DEFINE_integer(
    "entity_descriptions_sentence_limit", None, "Sentences per table (k).", lower_bound=0
)
flags.DEFINE_float("learning_rate", None, "Peak learning rate.", lower_bound=0)
flags.DEFINE_enum(
    "trainer",
    "strategy",
    ["strategy", "tpu_estimator"],
    "tf.distribute, or TPUEstimator in an environment with TensorFlow 2.15.",
)
flags.DEFINE_enum(
    "mixed_precision",
    None,
    ["auto", "float32", "bfloat16", "float16", "int8"],
    "Precision of the layers; variables, heads and losses stay float32. auto is bfloat16 where the "
    "device has bfloat16 matmuls. int8 is for ask, demo, serve and mcp with --init_checkpoint, "
    "on a CPU.",
)
flags.DEFINE_alias("precision", "mixed_precision")
flags.DEFINE_boolean("use_tpu", False, "Train on a TPU.")
flags.DEFINE_string("master", "", "tpu_estimator: address of the session, instead of --tpu_name.")
flags.DEFINE_integer(
    "tf_random_seed",
    None,
    "Seed of data order and initial weights.",
    lower_bound=0,
    upper_bound=2**31 - 1,
)
flags.DEFINE_list(
    "seeds",
    None,
    "run: train with each of these seeds, for example 0,1,2; prints the median, half the "
    "interquartile range and the 95 % interval of each metric.",
)
flags.DEFINE_enum(
    "runner_type",
    None,
    ["DIRECT", "DATAFLOW", "FLINK", "SPARK", "PORTABLE"],
    "Convert examples with Apache Beam, on this runner, instead of --num_processes.",
)
flags.DEFINE_string(
    "beam_options", "", "Options of --runner_type, for example '--project=p --region=r'."
)
flags.DEFINE_multi_string("question", [], "Question about --table; repeat it for a conversation.")
flags.DEFINE_enum(
    "format", "both", ["json", "table", "both"], "ask: answers as JSON, as a table, or as both."
)
flags.DEFINE_integer(
    "port", 7860, "Port of --mode=demo and --mode=serve.", lower_bound=1, upper_bound=65535
)
flags.DEFINE_string(
    "host",
    "127.0.0.1",
    "Address that --mode=demo or --mode=serve listens on; if other machines can reach it, visitors "
    "need the printed token.",
)
flags.DEFINE_list(
    "allowed_hosts",
    [],
    "demo and serve: host names they answer to, besides --host and this machine's name.",
)
flags.DEFINE_string(
    "root_path",
    "",
    "demo: path under which a proxy serves the page, such as /tables, or its full address, such as "
    "https://example.org/tables.",
)
flags.DEFINE_list(
    "perturb",
    [],
    "predict_and_evaluate: rows, columns, or both, comma-separated: ask again about tables with "
    "their rows or columns shuffled, and report the share of answers that change.",
)
flags.DEFINE_list("lengths", LENGTHS, "profile: tokens.")
flags.DEFINE_list(
    "variants", None, "profile: attention variants; by default full, mate_efficient and baselines."
)
flags.DEFINE_list("precisions", ["float32"], "profile: any of float32, bfloat16, float16.")
flags.DEFINE_enum(
    "compile", "plain", ["plain", "xla", "both"], "profile: plain graphs, XLA or both."
)
flags.DEFINE_list("passes", ["forward"], "profile: forward, training (a step) or both.")
flags.DEFINE_boolean("memory", True, "profile: also peak memory, in a new process for each length.")
