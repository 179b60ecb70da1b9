"""Files that start from other files."""

import pytest
import yaml

from mate_tf.errors import InputError
from mate_tf.files.config_files import find_config, with_bases


@pytest.fixture
def chain(tmp_path):
    """chain(files): what the first file and its bases have, base first; files: name -> text."""

    def read(path):
        with open(path, encoding="utf-8") as file:
            return yaml.safe_load(file)

    def found(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
        return [given for given, _ in with_bases(str(tmp_path / next(iter(files))), read)]

    return found


def test_the_file_itself_comes_last(chain):
    files = {
        "own/top.yaml": "base: middle.yaml\nx: 1",
        "own/middle.yaml": "base: ../bottom.yaml\nx: 2",
        "bottom.yaml": "x: 3",
    }
    assert chain(files) == [{"x": 3}, {"x": 2}, {"x": 1}]
    assert chain({"alone.yaml": "x: 4"}) == [{"x": 4}]


def test_a_file_beside_it_comes_before_one_of_the_package(chain):
    shipped = chain({"own.yaml": "base: configs/sqa.yaml\nx: 1"})
    assert shipped[0]["task"]["name"] == "SQA"
    assert chain({"own.yaml": "base: sqa.yaml\nx: 1", "sqa.yaml": "x: 2"}) == [{"x": 2}, {"x": 1}]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a.yaml": "base: absent.yaml"}, "a.yaml: base: absent.yaml: no such file"),
        ({"a.yaml": "base: [b.yaml]"}, r"a.yaml: base is \['b.yaml'\], expected the name"),
        ({"a.yaml": "base: a.yaml"}, "a.yaml: base: a.yaml: starts from itself"),
        (
            {"a.yaml": "base: b.yaml", "b.yaml": "base: ./a.yaml"},
            r"b.yaml: base: \./a.yaml: starts from itself",
        ),
        (
            {f"{n}.yaml": f"base: {n + 1}.yaml" for n in range(30)},
            r"20.yaml: base: 21.yaml: more than 20 bases",
        ),
    ],
)
def test_bases_that_cannot_be_used(chain, files, message):
    with pytest.raises(InputError, match=message):
        chain(files)


def test_only_names_within_the_package_are_found_there(project, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("../setup.py", "configs/../setup.py", "/setup.py"):
        with pytest.raises(InputError, match="no such file"):
            find_config(name)
