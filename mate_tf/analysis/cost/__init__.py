"""Cost of attention: time, FLOPs and memory. Imports nothing by itself."""
