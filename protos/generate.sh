#!/bin/sh
# Writes mate_tf/protos/*_pb2.py and their types, *_pb2.pyi, from protos/*.proto.
#
# The compiler is that of protobuf 4.25: its modules carry no check of the runtime's version, so
# they import under protobuf 4.25 (TensorFlow 2.15) and 6.33 (TensorFlow 2.20) alike.
set -eu
cd "$(dirname "$0")/.."
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
uv venv --quiet --python 3.11 "$environment"
uv pip install --quiet --python "$environment" "grpcio-tools==1.62.3" "setuptools<81" \
  "mypy-protobuf==3.6.0"
PATH="$environment/bin:$PATH" "$environment/bin/python" -m grpc_tools.protoc \
  -Imate_tf/protos=protos --python_out=. --mypy_out=. \
  mate_tf/protos/interaction.proto \
  mate_tf/protos/annotated_text.proto \
  mate_tf/protos/table_selection.proto \
  mate_tf/protos/invalid_answer.proto \
  mate_tf/protos/second_text.proto \
  mate_tf/protos/answer_spans.proto \
  mate_tf/protos/given_answer.proto
