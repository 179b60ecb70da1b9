"""Tables that are packed."""

import gzip
import zipfile

import pytest

from mate_tf.errors import InputError
from mate_tf.tables import archives
from mate_tf.tables.any_table import read_table
from mate_tf.tables.limits import Limits
from mate_tf.tables.text_table import FileOptions

TEXT = "who,old\nAnn,3\nBo,4\n"


def test_a_packed_table_is_read_as_the_file(tmp_path):
    plain, packed, archive = tmp_path / "a.csv", tmp_path / "a.csv.gz", tmp_path / "a.zip"
    plain.write_text(TEXT)
    packed.write_bytes(gzip.compress(TEXT.encode()))
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.csv", TEXT)
    rows = read_table(plain).rows
    assert read_table(packed).rows == read_table(archive).rows == rows


def test_an_archive_with_two_files_is_refused(tmp_path):
    archive = tmp_path / "two.zip"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a.csv", TEXT)
        file.writestr("b.csv", TEXT)
    with pytest.raises(InputError, match=r"two.zip: only archives with one file.*a.csv, b.csv"):
        archives.read_zip(str(archive), Limits(), FileOptions(), None, read_table)
