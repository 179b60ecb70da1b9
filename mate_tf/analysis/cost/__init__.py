"""What attention costs: time, FLOPs and memory. Imports nothing by itself."""
