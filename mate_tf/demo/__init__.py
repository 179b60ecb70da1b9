"""A web page to try a model: it shows the selected cells and the attention for each question.

`page`, `sizes` and `server` need gradio and what it brings (`pip install -e '.[demo]'`).
"""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
