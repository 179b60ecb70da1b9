"""Tables as plain data. Nothing here imports TensorFlow.

`table` holds them and reads and writes files, `numbers` finds numbers and dates in cells and
questions, `linearize` makes token sequences.
"""
