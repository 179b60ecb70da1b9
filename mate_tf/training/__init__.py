"""Training: experiments from YAML, optimizers, the trainer, predictions of a trained model."""
