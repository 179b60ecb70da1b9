"""Packaging of mate-tf: dependencies, extras and the `mate-tf` command."""

import pathlib

import setuptools

ROOT = pathlib.Path(__file__).parent

# Versions that are known to work together on Python 3.11 to 3.13; each bound has its reason.
TENSORFLOW = "~=2.20.0"
REQUIRED = [
    f"tensorflow{TENSORFLOW}",  # tf-models 2.20 pins it; with 2.21 pip goes back to tf-models 2.7
    "tf-models-official~=2.20.0",
    "tensorflow-text~=2.20.0",
    "tf_keras~=2.20.0",  # tf-models' layers are Keras 2
    "tensorflow-datasets~=4.9",
    "absl-py",
    "chardet>=7",  # the encoding of text files
    "clevercsv",  # their delimiters and quotation marks
    "google-crc32c",  # checksums of exported variables
    "ml_dtypes",
    "narwhals",  # frames of all libraries
    "numpy",
    "openvino>=2026.0",  # answers on CPUs
    "pyarrow",  # Parquet
    "python-calamine",  # workbooks
    "pyyaml",
    "safetensors>=0.8",  # bfloat16 as NumPy arrays
    "scikit-learn",
    "scipy",
    "tqdm",
    "protobuf<7",  # tf.io.write_graph breaks with 7
    "setuptools<81",  # TensorBoard 2.20 imports pkg_resources, which 81 removed
]
SERVE = ["starlette>=1.10", "uvicorn>=0.54", "h11", "prometheus-client", "python-multipart"]
MCP = ["mcp~=2.3"]
EXTRAS = {
    "test": [
        *("pytest", "pytest-xdist", "hypothesis", "pandas", "psutil", "matplotlib", "ruff"),
        *("openpyxl", "polars", "sqlalchemy>=2"),
        "huggingface_hub",
        "rouge-score",
        "numba",
        "grpcio-tools<1.79",
        *("ipykernel", "nbclient", "nbformat"),
        *SERVE,
        *MCP,
        *("httpx", "openapi-spec-validator"),
    ],
    "plots": ["matplotlib"],
    # TensorFlow with the CUDA libraries it needs, for GPUs of Nvidia on Linux.
    "gpu": [f"tensorflow[and-cuda]{TENSORFLOW}"],
    # Fetches models by their names on the Hugging Face hub.
    "hub": ["huggingface_hub"],
    "demo": ["gradio~=6.31", "starlette>=1.10", "fastapi", "uvicorn", "h11"],
    # Answers over HTTP, and for agents.
    "serve": SERVE,
    "mcp": MCP,
    # Compiles attention under scattered masks.
    "rows": ["numba"],
    # Scores summaries.
    "rouge": ["rouge-score"],
    # Reads databases.
    "sql": ["sqlalchemy>=2"],
    # For what builds on these; listed from the start, so that all are known to fit together.
    "beam": ["apache-beam[tfrecord]~=2.77.0"],
    "colab": ["ipykernel", "nbclient", "matplotlib", "pandas"],
    # The documentation site: `mkdocs build --strict`.
    "docs": [
        "mkdocs~=1.6.1",  # the theme and the plugins are for 1.x
        "mkdocs-material~=9.6",
        "mkdocstrings[python]~=1.0",
        "mkdocstrings-python~=2.0",
    ],
}

setuptools.setup(
    name="mate-tf",
    version="0.1.0",
    description="MATE and other sparse attention for tables, in TensorFlow",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11,<3.14",  # TensorFlow 2.20 has no wheels for 3.14
    classifiers=[f"Programming Language :: Python :: 3.{minor}" for minor in (11, 12, 13)],
    # configs/ and models/ stand at the top of the checkout, and in the package once installed.
    packages=[
        *setuptools.find_packages(include=["mate_tf", "mate_tf.*"]),
        *("mate_tf.configs", "mate_tf.presets"),
    ],
    package_dir={"mate_tf.configs": "configs", "mate_tf.presets": "models"},
    package_data={
        "mate_tf": ["py.typed"],
        "mate_tf.analysis.plots": ["*.js"],
        "mate_tf.configs": ["*.yaml", "*/*.yaml"],
        "mate_tf.data.synthetic": ["*.csv", "*.yaml"],
        "mate_tf.demo": ["*.css", "*.csv"],
        "mate_tf.presets": ["*/*"],
        "mate_tf.serving": ["programs.json"],
        "mate_tf.tables": ["*.css", "usual_words.txt"],
    },
    install_requires=REQUIRED,
    extras_require=EXTRAS,
    entry_points={"console_scripts": ["mate-tf = mate_tf.cli.main:run"]},
)
