"""Label spreading at any size: items in blocks, each small enough for the memory of one worker.

    items  ->  cells (partition)  ->  neighbours  ->  rows of S (operator)  ->  alpha (choosing)
           ->  scales  ->  mass (solve)  ->  soft labels (labels)

Each step is a pure function of files: it reads blocks of a :class:`~softspread.blocks.store.BlockStore`, and
writes one block whole. A driver (``drivers``) only decides where and when: one process, or a Dask cluster.
Items are numbered by *place*: block after block, in the order in which their cells hold them.
"""
