"""A compiled function and the plain Python it was made from, run on the same input."""

import numpy as np

from softspread._kernels.system import System

DOUBLE = {"rtol": 1e-10, "atol": 1e-13}
SHAPES = ["one item", "one isolated among others", "all isolated", "pair", "random", "star"]


def random_system(shape, alpha=0.9, seed=0):
    """A system by rows, and the degrees of its items."""
    rng = np.random.default_rng(seed)
    n = {"one item": 1, "all isolated": 4, "pair": 2, "random": 25, "star": 9}.get(shape, 12)
    A = np.zeros((n, n))
    if shape in ("random", "one isolated among others"):
        A = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.3), 1)
        A[:, 3] = A[3, :] = 0.0 if shape != "random" else A[3, :]
    elif shape == "pair":
        A[0, 1] = 0.7
    elif shape == "star":
        A[0, 1:] = rng.random(n - 1)
    A = np.triu(A, 1)
    A += A.T
    degrees = A.sum(axis=1)
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    S = A / root[:, None] / root
    rows, columns = np.nonzero(S)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64)
    return System(indptr, columns.astype(np.uint32), S[rows, columns], root, alpha), degrees


def dense(system):
    """I - alpha S as a table."""
    n = len(system.root)
    out = np.eye(n)
    out[np.repeat(np.arange(n), np.diff(system.indptr)), system.indices] -= system.alpha * system.weights
    return out


def arrays_of(value):
    """All arrays and numbers in nested tuples."""
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_of(part)]
    return [] if value is None else [np.asarray(value)]


def same_as_python(kernel, make_arguments):
    """Run both on input made afresh; what they return and what they leave in their arguments must agree.

    Returns the compiled function's arguments and answer.
    """
    compiled, plain = make_arguments(), make_arguments()
    fast, slow = kernel(*compiled), kernel.py_func(*plain)
    pairs = zip(arrays_of((compiled, fast)), arrays_of((plain, slow)), strict=True)
    for one, other in pairs:
        single = np.asarray(one).dtype == np.float32  # sums in another order differ in its last digits
        np.testing.assert_allclose(one, other, **({"rtol": 1e-5, "atol": 1e-6} if single else DOUBLE))
    return compiled, fast
