"""Items to a space in which neighbours mean something: images or text -> encoder -> features -> reducer -> X.

    inputs, images -> loader -> encoders (transformer, onnx, pixels) -> cache -> reducers -> result     one
    file each
    embed: all of it in one call; zero_shot: a prior from class names; check: is the space any good; command:
    the shell

Importing this package loads nothing heavy: torch, transformers, onnxruntime and umap-learn wait until they
are used.
"""
