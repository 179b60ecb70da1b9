"""The command line: `flags` defines all flags, `main` dispatches, one module per mode."""
