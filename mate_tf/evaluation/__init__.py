"""From a model's outputs to scores: predictions, their files, metrics, baselines."""
