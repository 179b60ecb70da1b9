"""Protocol buffers of TAPAS: interactions, annotated texts."""
