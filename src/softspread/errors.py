"""The exceptions and the warning, in the user's terms."""


class SoftspreadError(Exception):
    """Base of every error that this package raises on purpose.

    Examples
    --------
    >>> from softspread import Graph, SoftspreadError
    >>> try:
    ...     Graph.load("nowhere.npz")
    ... except SoftspreadError as error:
    ...     print(type(error).__name__)
    StoreError
    """


class InputError(SoftspreadError, ValueError):
    """The input cannot be used; the message says what was given, what is allowed and what to do.

    Examples
    --------
    >>> from softspread import InputError, knn_graph
    >>> try:
    ...     knn_graph([[0.0], [1.0]], n_neighbors=0)
    ... except InputError:
    ...     print("at least 1 neighbour")
    at least 1 neighbour
    """


class ConvergenceError(SoftspreadError, ArithmeticError):
    """A solver stopped before it reached the accuracy that was asked for.

    Examples
    --------
    >>> from softspread import ConvergenceError
    >>> issubclass(ConvergenceError, ArithmeticError)
    True
    """


class StoreError(SoftspreadError, OSError):
    """A file is missing, cut short, not ours, or newer than this version.

    Examples
    --------
    >>> from softspread import StoreError, load
    >>> try:
    ...     load("nowhere.softspread")
    ... except StoreError:
    ...     print("no such file")
    no such file
    """


class MissingExtraError(SoftspreadError, ImportError):
    """An optional library is needed; the message names the extra that installs it.

    Examples
    --------
    >>> from softspread import MissingExtraError
    >>> issubclass(MissingExtraError, ImportError)
    True
    """


class PluginError(SoftspreadError, ImportError):
    """A part that another package registered cannot be used; the message names that package.

    Examples
    --------
    >>> from softspread import PluginError
    >>> issubclass(PluginError, ImportError)
    True
    """


class SoftspreadWarning(UserWarning):
    """The result stands, but deserves a look.

    Examples
    --------
    Turn them into errors, as in a test:

    >>> import warnings
    >>> from softspread import SoftspreadWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", SoftspreadWarning)
    """


class NeighborWarning(SoftspreadWarning):
    """Votes do not go with those of their neighbours: another space may suit them better.

    Examples
    --------
    >>> from softspread import NeighborWarning, SoftspreadWarning
    >>> issubclass(NeighborWarning, SoftspreadWarning)
    True
    """
