"""What trained models attend to: flow of attention, learned masks, settings of MATE."""
