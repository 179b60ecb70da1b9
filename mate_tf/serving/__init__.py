"""From a trained model to answers: `export` writes a SavedModel, `predictor` asks it."""
