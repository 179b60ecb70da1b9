"""Small files of GLUE's tasks as the official ones are: all columns, quotes, broken lines.

What is broken in QQP is so in the official train.tsv: a question with a line end in quotes makes
two lines of a row, and a question may be empty.
"""

import pathlib

TREES = ("( a b )", "( c d )", "(ROOT a b)", "(ROOT c d)")
MNLI_HEAD = "index promptID pairID genre sentence1_binary_parse sentence2_binary_parse"
MNLI_HEAD += " sentence1_parse sentence2_parse sentence1 sentence2"
STS_HEAD = "index genre filename year old_index source1 source2 sentence1 sentence2"
QQP_BROKEN = [
    '2332\t4637\t4638\t"Which is the best water purifier?',
    '"\tWhat is the best water purifier?\t0',
    '12330\t23766\t23767\tWhy did she cut her hair?\t"Is she doing her best in season 8?',
    '"\t0',
    "105780\t174363\t174364\tHow can I develop an app?\t\t0",
]
QUOTED = 'He said "so', 'and " that'
"""Texts with stray quotes."""

QUOTED_TAB = '"a tab\there"'
"""A cell that holds a tab."""


def _mnli(split: str, number: int) -> list[str]:
    annotators = {"train": 1, "dev": 5}.get(split.partition("_")[0], 0)
    columns = MNLI_HEAD.split() + [f"label{i + 1}" for i in range(annotators)]
    label = ("neutral", "entailment", "contradiction")
    rows = [
        [str(i), f"{i}", f"{i}n", "slate", *TREES, f"{split} {i} {QUOTED[0]}", "n/a"]
        + [label[i % 3]] * annotators
        + ([label[i % 3]] if annotators else [])
        for i in range(number)
    ]
    return ["\t".join(columns + (["gold_label"] if annotators else [])), *map("\t".join, rows)]


def _pairs(head: str, split: str, number: int, labels: tuple[str, ...]) -> list[str]:
    labelled = split != "test"
    lines = [head.replace(" ", "\t") + "\tlabel" * labelled]
    for i in range(number):
        row = f"{i}\tfirst {i}\t{QUOTED[i % 2]} {i}"
        lines.append(f"{row}\t{labels[i % 2]}" if labelled else row)
    return lines


def _cola(split: str, number: int) -> list[str]:
    if split == "test":
        return ["index\tsentence", *(f"{i}\tSentence {i}." for i in range(number))]
    return [f"gj04\t{i % 2}\t{'*' * (i % 2)}\tSentence {QUOTED[0]} {i}." for i in range(number)]


def _sst_2(split: str, number: int) -> list[str]:
    if split == "test":
        return ["index\tsentence", *(f"{i}\ta film {i} ." for i in range(number))]
    return ["sentence\tlabel", *(f"a film {i} . \t{i % 2}" for i in range(number))]


def _mrpc(split: str, number: int) -> list[str]:
    ids = "#1 ID\t#2 ID\t#1 String\t#2 String"
    first = "index" if split == "test" else "\ufeffQuality"
    value = str if split == "test" else lambda i: str(i % 2)
    return [
        f"{first}\t{ids}",
        *(f"{value(i)}\t1\t2\t{QUOTED[0]} {i}\t{QUOTED[1]}" for i in range(number)),
    ]


def _sts_b(split: str, number: int) -> list[str]:
    labelled = split != "test"
    head = STS_HEAD.replace(" ", "\t") + "\tscore" * labelled
    front = "main-captions\tMSRvid\t2012test\t0001\tnone\tnone"
    rows = [f"{i}\t{front}\tA plane {i}.\tA bird." for i in range(number)]
    return [head, *(f"{row}\t{i % 6}.000" if labelled else row for i, row in enumerate(rows))]


def _qqp(split: str, number: int) -> list[str]:
    if split == "test":
        rows = [f"{i}\tWhy {i}?\t{'' if i == 1 else 'How?'}" for i in range(number)]
        return ["id\tquestion1\tquestion2", *rows]
    head = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate"
    rows = [f"{i}\t{2 * i}\t{2 * i + 1}\tWhy {i}?\tHow {i}?\t{i % 2}" for i in range(number)]
    rows[1] = f"1\t2\t3\t{QUOTED_TAB}\tHow?\t1"
    return [head, rows[0], *(QQP_BROKEN if split == "train" else []), *rows[1:]]


_ENTAILMENT = ("entailment", "not_entailment")

TASKS = {
    "CoLA": _cola,
    "SST-2": _sst_2,
    "MRPC": _mrpc,
    "STS-B": _sts_b,
    "QQP": _qqp,
    "MNLI": _mnli,
    "QNLI": lambda *of: _pairs("index question sentence", *of, labels=_ENTAILMENT),
    "RTE": lambda *of: _pairs("index sentence1 sentence2", *of, labels=_ENTAILMENT),
    "WNLI": lambda *of: _pairs("index sentence1 sentence2", *of, labels=("0", "1")),
}
"""Folder of a task -> function of the split and the number of rows that returns the lines."""


def write(folder: pathlib.Path, task: str, number: int = 6) -> pathlib.Path:
    """Writes all files of a task into a folder of its name, which is returned."""
    path = folder / task
    path.mkdir(parents=True)
    splits = ["train", "dev", "test"]
    if task == "MNLI":
        splits = ["train", *(f"{a}_{b}" for a in splits[1:] for b in ("matched", "mismatched"))]
    for split in splits:
        text = "\n".join(TASKS[task](split, number)) + "\n"
        (path / f"{split}.tsv").write_text(text, encoding="utf-8", newline="\n")
    return path


def write_diagnostics(folder: pathlib.Path, number: int = 6) -> pathlib.Path:
    """Writes the file of GLUE's diagnostics as it lies beside the tasks, and returns its path."""
    path = folder / "diagnostic" / "diagnostic.tsv"
    path.parent.mkdir(parents=True)
    rows = [f"{i}\tThe cat sat {i}.\tThe cat did not." for i in range(number)]
    path.write_text("\n".join(["index\tsentence1\tsentence2", *rows]) + "\n")
    return path
