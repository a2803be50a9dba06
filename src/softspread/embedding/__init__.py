"""Images or text to a space in which neighbours mean something.

    items -> preparation -> loader -> encoders/ -> feature_store -> reducers/ -> result

`embed` runs all of it in one call, `zero_shot` makes a prior from class names, `comparison` says which of
several spaces is best. Importing this package loads nothing heavy: torch, transformers, onnxruntime and
umap-learn wait until they are used.
"""
