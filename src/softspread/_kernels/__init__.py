"""Every compiled loop: plain arrays and tuples of arrays in, plain arrays out.

Kernels see the symmetric operator S in the graph's inner numbering. They release the interpreter lock, so
that threads of a pool can share the rows. Each is kept on disk once compiled, and a test compares it with its
plain Python.

The copies on disk name the classes of the tuples they take. Whoever moves or renames such a class must also
move the functions that take it to other lines: otherwise a copy left by an older version is found, and cannot
be read.
"""
