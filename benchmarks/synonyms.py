"""Finds the words that mean nearly the same as words of column names (mate_tf/tables/synonyms.txt).

    python benchmarks/synonyms.py --interactions out/tables/*/interactions/train.tfrecord

Words of the names of columns that several tables have, with the words of the vocabulary whose
embeddings in `mini` are the nearest: those of MiniLM, which were never trained on tables. Forms of
the same word are left out. The file is written into the folder --output.
"""

from collections import Counter

import common
import numpy as np

from mate_tf.checkpoints import safetensors
from mate_tf.data import records
from mate_tf.tables import pruning

MINI = common.ROOT / "models" / "mini"
_LEAST, _MOST, _TABLES, _LETTERS = 0.42, 8, 3, 3
_OFFICE = """
" account address agent amount author bill borrower branch budget buyer campaign captain carrier
cell charge client colleague consumption contract customer deadline defect delivery department
deposit description designer destination discount doctor driver duration editor email employee
engineer expense fare fee fine genre guest headcount income insurance inventory invoice job loan
lender manager manufacturer member model occupant operator order owner passenger patient payment
phone pilot price priority product profit project provider purchase quantity rating region rent
reviewer room salary sale seller shelf shipment shop sku spending staff stock store student
supplier supervisor task tax teacher temperature tenant ticket traveler unit vehicle vendor wage
warehouse website weight worker
"""
"""Names of columns that tables of offices and shops have, and those of Wikipedia seldom."""

_HEADER = "# Words of column names: words of nearly the same meaning, by MiniLM (Apache-2.0)."


def names(files) -> Counter:
    """Counts in how many tables a column's name has a word."""
    found, seen = Counter(), set()
    for file in files:
        for each in records.read_interactions(file):
            if each.table.table_id not in seen:
                seen.add(each.table.table_id)
                columns = " ".join(column.text for column in each.table.columns)
                found.update(set(pruning.words(columns)))
    return found


def main() -> None:
    parser = common.parser(__doc__)
    parser.add_argument("--interactions", nargs="+", required=True, help="written by create_data")
    args = parser.parse_args()
    vocabulary = (MINI / "vocab.txt").read_text(encoding="utf-8").splitlines()
    stored = safetensors.read(str(MINI / "model.safetensors"))
    vectors = np.float32(stored["bert/embeddings/word_embeddings"].read())
    vectors -= vectors.mean(0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    usable = [
        index for index, word in enumerate(vocabulary) if word.isalpha() and len(word) >= _LETTERS
    ]
    number = {vocabulary[index]: index for index in usable}
    lines = []
    counts = names(args.interactions)
    counts.update(dict.fromkeys(pruning.words(_OFFICE), _TABLES))
    for word, tables in sorted(counts.items()):
        if tables < _TABLES or word not in number or word in pruning.STOP_WORDS:
            continue
        alike = vectors[usable] @ vectors[number[word]]
        near = [usable[each] for each in np.argsort(-alike) if alike[each] >= _LEAST]
        kept = dict.fromkeys(
            each for index in near for each in pruning.words(vocabulary[index]) if each != word
        )
        kept = [each for each in kept if each[:5] != word[:5] or len(word) < 5][:_MOST]
        if kept:
            lines.append(f"{word}: {' '.join(kept)}")
    common.write(args, "synonyms", {"words": len(lines)})
    path = args.output / "synonyms.txt"
    path.write_text("\n".join([_HEADER, *lines]) + "\n", encoding="utf-8")
    print(f"written | {path}: {len(lines)} words")


if __name__ == "__main__":
    main()
