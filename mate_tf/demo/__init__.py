"""A web page to try a model: ask about a table, see what is chosen and what is attended to.

`page` is the only module that needs gradio (`pip install -e '.[demo]'`).
"""
