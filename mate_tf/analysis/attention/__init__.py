"""Analyses of trained models: flow of attention, learned masks, settings of MATE."""
