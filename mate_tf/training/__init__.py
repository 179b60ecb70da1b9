"""Training: experiments from YAML, optimizers, the trainer, bootstrapping of trees, predictions."""
