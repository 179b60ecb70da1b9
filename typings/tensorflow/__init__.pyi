# In place of the stubs that pyright brings: those are of Keras 3 and TensorFlow 2.18, and know
# neither `x[..., None]` nor `~x`. Inference over TensorFlow's sources takes 20 minutes.
from typing import Any

def __getattr__(name: str) -> Any: ...
