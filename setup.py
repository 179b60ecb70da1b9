"""The packages of mate-tf; all else about it is in pyproject.toml.

configs/ and models/ stand at the top of the checkout, and in the package once installed, which
pyproject.toml cannot say together with packages that are found.
"""

import setuptools

setuptools.setup(
    packages=[
        *setuptools.find_packages(include=["mate_tf", "mate_tf.*"]),
        *("mate_tf.configs", "mate_tf.presets"),
    ],
    package_dir={"mate_tf.configs": "configs", "mate_tf.presets": "models"},
)
