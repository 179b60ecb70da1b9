"""The command line: `flags` defines them all, `main` dispatches, one module per mode."""
