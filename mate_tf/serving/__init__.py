"""Serving of trained models: `export` writes a SavedModel, `Predictor` answers with it."""
