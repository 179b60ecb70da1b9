"""Evaluation of models: predictions and their files, metrics, baselines."""
