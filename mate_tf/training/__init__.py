"""Training: experiments from YAML, the trainer, bootstrapping of trees, predictions."""

from mate_tf.lazy import on_first_use

__getattr__, __dir__ = on_first_use(__name__)
