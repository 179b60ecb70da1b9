"""Tables as plain data. Nothing here imports TensorFlow.

`table` holds them and reads and writes files, `numbers` finds numbers and dates in cells and
questions, `answers` finds the cells of an answer, `linearize` makes token sequences.
"""
