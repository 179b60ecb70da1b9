"""Answers: gold answers, operations over cells, the official rules that compare answers.

Readers of data sets and metrics both need these. No module here imports TensorFlow.
"""
