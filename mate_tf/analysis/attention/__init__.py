"""Analyses of trained models: attention flow, learned masks, settings of MATE."""
