"""The committed protocol buffer modules: up to date, and able to read the reference's records."""

import pathlib
import subprocess
import sys

import pytest
from google.protobuf import descriptor_pb2

from mate_tf.protos import (
    annotated_text_pb2,
    answer_spans_pb2,
    given_answer_pb2,
    interaction_pb2,
    invalid_answer_pb2,
    second_text_pb2,
    table_selection_pb2,
)

MODULES = (
    interaction_pb2,
    annotated_text_pb2,
    invalid_answer_pb2,
    second_text_pb2,
    table_selection_pb2,
    answer_spans_pb2,
    given_answer_pb2,
)


def test_modules_match_their_sources(project, tmp_path):
    pytest.importorskip("grpc_tools", reason="needs grpcio-tools, part of the test extra")
    names = [module.DESCRIPTOR.name for module in MODULES]
    output = tmp_path / "descriptors"
    subprocess.run(
        [
            *(sys.executable, "-m", "grpc_tools.protoc", "-Imate_tf/protos=protos"),
            *(f"--descriptor_set_out={output}", *names),
        ],
        cwd=project,
        check=True,
    )
    compiled = descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes())
    assert {file.name for file in compiled.file} == set(names)
    by_name = {file.name: file for file in compiled.file}
    for module in MODULES:
        committed = descriptor_pb2.FileDescriptorProto()
        module.DESCRIPTOR.CopyToProto(committed)
        fresh = by_name[module.DESCRIPTOR.name]
        for message in (committed, fresh):
            _clear_json_names(message)
        assert committed == fresh


def test_every_source_has_a_module(project):
    sources = {path.name for path in (project / "protos").glob("*.proto")}
    assert sources == {pathlib.Path(module.DESCRIPTOR.name).name for module in MODULES}


def test_modules_carry_no_runtime_version_check(project):
    """They must import under protobuf 4.25, which has no `runtime_version` module."""
    for path in (project / "mate_tf" / "protos").glob("*_pb2.py"):
        assert "runtime_version" not in path.read_text(encoding="utf-8"), path


def test_extensions_survive_a_round_trip():
    interaction = interaction_pb2.Interaction(id="a-0")
    question = interaction.questions.add(text="who?")
    selection = question.Extensions[table_selection_pb2.TableSelection.table_selection_ext]
    selection.selected_tokens.add(row_index=0, column_index=2, token_index=1)
    annotated = question.Extensions[annotated_text_pb2.AnnotatedText.annotated_question_ext]
    annotated.annotations.add(begin_byte_index=0, end_byte_index=3, identifier="/wiki/Who")
    question.Extensions[invalid_answer_pb2.InvalidAnswer.invalid_answer_ext].reason = "no text"
    question.Extensions[second_text_pb2.SecondText.second_text_ext].text.append("whom?")
    spans = question.Extensions[answer_spans_pb2.AnswerSpans.answer_spans_ext].spans
    spans.add(begin_index=0, end_index=3)
    described = interaction.Extensions[
        annotated_text_pb2.AnnotationDescription.annotation_descriptions_ext
    ]
    described.descriptions["/wiki/Who"] = "A band ."
    assert interaction_pb2.Interaction.FromString(interaction.SerializeToString()) == interaction


def test_an_answer_is_valid_unless_said_otherwise():
    assert interaction_pb2.Answer().is_valid
    assert not interaction_pb2.Answer(is_valid=False).is_valid


def _clear_json_names(message):
    """Compilers differ in whether they write this derived field."""
    for descriptor, value in message.ListFields():
        if descriptor.name == "json_name":
            message.ClearField("json_name")
        elif descriptor.message_type is not None:
            repeated = hasattr(value, "__len__") and not hasattr(value, "ListFields")
            for child in value if repeated else [value]:
                _clear_json_names(child)
