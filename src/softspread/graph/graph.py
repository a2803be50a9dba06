"""The diffusion operator S and the facts about its graph.

    A (n, n) symmetric affinity  ->  S = D^-1/2 A D^-1/2  or  D^-1 A        theory: [operator]

Inside, items are renumbered so that neighbours are close in memory, and S is always kept in its symmetric
form: the random-walk form is D^-1/2 (symmetric form) D^1/2, so one set of solvers serves both. The inner
numbering stays in ``graph``, ``diffusion`` and the compiled loops; everything above sees the user's order.
"""

from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from softspread._common.archive import read_archive, write_archive
from softspread._common.digests import digest
from softspread._common.types import AnyArray, BoolArray, FloatArray, IndexArray, IntArray
from softspread._common.wording import counted
from softspread._kernels.system import System
from softspread.errors import StoreError
from softspread.graph.places import Metric, place_items

FORMAT_VERSION = 1  # of saved graphs; raised when older code could misread them
NORMALIZATIONS = ("symmetric", "random_walk")
ARRAYS = ("indptr", "indices", "weights", "inner_degrees", "order", "features")


@dataclass(frozen=True, eq=False)
class Graph:
    """Items, their neighbours and how strongly they are tied.

    Made by :func:`~softspread.knn_graph`, :func:`~softspread.epsilon_graph` or
    :func:`~softspread.affinity_graph`.

    Attributes
    ----------
    indptr : (n + 1,) array
        Where the edges of each item start; this and the next four are in the inner numbering.
    indices : (n_edges,) array
        The other end of each edge.
    weights : (n_edges,) array
        Entries of the symmetric S.
    inner_degrees : (n,) array
        Row sums of the affinity; 0 for an isolated item.
    order : (n,) array
        The user's row of each inner number.
    kind : str
        "knn", "epsilon" or "affinity".
    normalization : str
        "symmetric" or "random_walk".
    n_neighbors : int or None
        Neighbours searched per item; None unless ``kind`` is "knn".
    sigma2 : float or None
        Squared width of the Gaussian kernel; None where there is none.
    recall_ : float
        Measured share of the true neighbours; 1.0 where the graph is exact.
    index : str
        Which search found the neighbours.
    n_components : int
        Number of connected parts.
    features : (n, d) array or None
        Features of the items, in the user's order; they place new items.
    details : dict
        Further facts of the neighbour search.
    metric : str or function
        "euclidean", "cosine", "inner_product" or a function: how far items are from each other.

    See Also
    --------
    knn_graph : Ties each item to its nearest neighbours.
    epsilon_graph : Ties items closer than a radius.
    affinity_graph : Takes weights of your own.

    Examples
    --------
    >>> import numpy as np
    >>> from softspread import knn_graph
    >>> graph = knn_graph(np.array([[0.0], [1.0], [2.0], [50.0], [51.0]]), n_neighbors=1)
    >>> graph.n_items, graph.n_components, graph.n_isolated
    (5, 2, 0)
    """

    indptr: IntArray
    indices: IndexArray
    weights: FloatArray
    inner_degrees: FloatArray
    order: IntArray
    kind: str
    normalization: str = "symmetric"
    n_neighbors: int | None = None
    sigma2: float | None = None
    recall_: float = 1.0
    index: str = "given"
    n_components: int = 0
    features: AnyArray | None = None
    details: dict[str, Any] = field(default_factory=dict)
    metric: Metric = "euclidean"

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.order)

    @property
    def n_edges(self) -> int:
        """Number of stored entries of S: twice the number of undirected edges."""
        return len(self.indices)

    @property
    def n_isolated(self) -> int:
        """Items without any neighbour; each is a component of its own."""
        return int(np.count_nonzero(self.inner_degrees == 0))

    def inner_system(self, alpha: float) -> System:
        """The system (I - alpha S) x = b in the inner order, for the compiled loops.

        Parameters
        ----------
        alpha : float
            Spreading intensity.

        Returns
        -------
        System
            Edges, weights and alpha as the compiled loops take them.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> affinity_graph([[0, 1], [1, 0]]).inner_system(0.9).alpha
        0.9
        """
        return System(self.indptr, self.indices, self.weights, self.inner_root, alpha)

    @cached_property
    def places(self) -> AnyArray | None:
        """Points whose Euclidean distances are those of the metric, in the user's order."""
        return None if self.features is None else place_items(self.features, self.metric)

    @cached_property
    def rank(self) -> IntArray:
        """Inner number of each of the user's rows."""
        rank = np.empty_like(self.order)
        rank[self.order] = np.arange(len(self.order))
        return rank

    @cached_property
    def inner_root(self) -> FloatArray:
        """sqrt(d) in the inner order, with 1 for isolated items, so that it may be divided by."""
        return np.sqrt(np.where(self.inner_degrees > 0, self.inner_degrees, 1.0))

    @property
    def degrees(self) -> FloatArray:
        """Row sums of the affinity, in the user's order."""
        return self.to_user_order(self.inner_degrees)

    @property
    def isolated(self) -> BoolArray:
        """Mask of the items without neighbours, in the user's order."""
        return np.asarray(self.degrees == 0)

    @property
    def S(self) -> csr_array:  # noqa: N802 - the symbol of the formulas
        """The operator in the user's order and in the normalisation asked for."""
        inner = self.inner_operator()
        if self.normalization == "random_walk":
            root = self.inner_root
            inner.data = inner.data * root[inner.indices] / np.repeat(root, np.diff(self.indptr))
        return self._to_user_matrix(inner)

    @property
    def affinity(self) -> csr_array:
        """The symmetric affinity A in the user's order."""
        inner = self.inner_operator()
        root = self.inner_root
        inner.data = inner.data * np.repeat(root, np.diff(self.indptr)) * root[inner.indices]
        return self._to_user_matrix(inner)

    def inner_operator(self) -> csr_array:
        """The symmetric S in the inner order.

        Returns
        -------
        (n, n) scipy.sparse.csr_array
            Shares its memory with the graph.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> affinity_graph([[0, 4], [4, 0]]).inner_operator().toarray().tolist()
        [[0.0, 1.0], [1.0, 0.0]]
        """
        # scipy wants signed indices; item numbers stay below 2**31, so the bits are the same.
        shape = (self.n_items, self.n_items)
        return csr_array((self.weights, self.indices.view(np.int32), self.indptr), shape=shape)

    def to_user_order(self, inner: AnyArray) -> AnyArray:
        """Rows in the inner order to rows in the user's order.

        Parameters
        ----------
        inner : (n, ...) array
            One row per item, in the inner order.

        Returns
        -------
        (n, ...) array
            The same rows in the user's order.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> graph = affinity_graph([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
        >>> graph.to_user_order(graph.order).tolist()
        [0, 1, 2]
        """
        out = np.empty_like(inner)
        out[self.order] = inner
        return out

    def _to_user_matrix(self, inner: csr_array) -> csr_array:
        rank = self.rank
        return csr_array(inner[rank][:, rank])

    def edges(self) -> tuple[IntArray, IntArray]:
        """Both ends of every undirected edge, as the user's rows, the smaller row first.

        Returns
        -------
        starts, ends : (n_edges / 2,) arrays
            Rows of the tied items.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> starts, ends = affinity_graph([[0, 1], [1, 0]]).edges()
        >>> starts.tolist(), ends.tolist()
        ([0], [1])
        """
        starts = self.order[np.repeat(np.arange(self.n_items), np.diff(self.indptr))]
        ends = self.order[self.indices]
        once = starts < ends
        return starts[once], ends[once]

    @property
    def rows_by_neighborhood(self) -> IntArray:
        """All rows of the user, close items near each other; the graph alone fixes the order."""
        return self.order

    @property
    def edges_per_item(self) -> IntArray:
        """How many other items each item is tied to, in the user's order."""
        return self.to_user_order(np.diff(self.indptr))

    def describe(self) -> str:
        """Neighbours, edges, components and recall in a few words.

        Returns
        -------
        str
            What the representation of a graph shows, too.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> affinity_graph([[0, 1], [1, 0]]).describe()
        '1 edge, 1 component'
        """
        near = "" if self.n_neighbors is None else f"{counted(self.n_neighbors, 'neighbour')}, "
        alone = f", {counted(self.n_isolated, 'isolated item')}" if self.n_isolated else ""
        recall = f", recall {self.recall_:.4f} ({self.index})" if self.recall_ < 1 else ""
        edges, parts = counted(self.n_edges // 2, "edge"), counted(self.n_components, "component")
        return f"{near}{edges}, {parts}{alone}{recall}"

    def __repr__(self) -> str:
        return f"Graph({counted(self.n_items, 'item')}: {self.describe()})"

    def digest(self) -> str:
        """Fingerprint of the edges: equal for graphs with the same edges in the same order.

        Returns
        -------
        str
            Hexadecimal digits.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> affinity_graph([[0, 1], [1, 0]]).digest() == affinity_graph([[0, 2], [2, 0]]).digest()
        True
        """
        return digest([self.indptr, self.indices, self.order]).hex()

    def arrays(self) -> dict[str, AnyArray]:
        """All arrays of the graph, by field name.

        Returns
        -------
        dict of str to array
            Without ``features`` where the graph has none.

        See Also
        --------
        Graph.from_arrays : The inverse, together with :meth:`facts`.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> list(affinity_graph([[0, 1], [1, 0]]).arrays())
        ['indptr', 'indices', 'weights', 'inner_degrees', 'order']
        """
        return {name: getattr(self, name) for name in ARRAYS if getattr(self, name) is not None}

    def facts(self) -> dict[str, Any]:
        """All fields but the arrays, ready for JSON.

        Returns
        -------
        dict
            Values by field name.

        See Also
        --------
        Graph.from_arrays : The inverse, together with :meth:`arrays`.

        Examples
        --------
        >>> from softspread import affinity_graph
        >>> affinity_graph([[0, 1], [1, 0]]).facts()["kind"]
        'affinity'
        """
        return {part.name: getattr(self, part.name) for part in fields(self) if part.name not in ARRAYS}

    @classmethod
    def from_arrays(cls, arrays: dict[str, AnyArray], facts: dict[str, Any]) -> "Graph":
        """The inverse of :meth:`arrays` and :meth:`facts`.

        Parameters
        ----------
        arrays : dict of str to array
            As :meth:`arrays` returns them.
        facts : dict
            As :meth:`facts` returns them.

        Returns
        -------
        Graph
            Equal to the one they were taken from.

        Examples
        --------
        >>> from softspread import Graph, affinity_graph
        >>> graph = affinity_graph([[0, 1], [1, 0]])
        >>> Graph.from_arrays(graph.arrays(), graph.facts()).n_items
        2
        """
        parts: dict[str, Any] = {**arrays, **facts}
        return cls(**parts)

    def save(self, path: str | Path) -> None:
        """Write the graph to one file, whole or not at all.

        Parameters
        ----------
        path : str or Path
            Where to; the folder must exist.

        See Also
        --------
        Graph.load : Reads it.

        Examples
        --------
        >>> import tempfile
        >>> from softspread import Graph, affinity_graph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     affinity_graph([[0, 1], [1, 0]]).save(f"{folder}/graph.npz")
        ...     Graph.load(f"{folder}/graph.npz").n_items
        2
        """
        if callable(self.metric):
            raise StoreError(
                f"a graph whose metric is a function ({self.metric!r}) cannot be saved. Save the places it "
                "gives, and build the graph on them with metric='euclidean'."
            )
        write_archive(path, "graph", FORMAT_VERSION, {"facts": self.facts()}, self.arrays())

    @classmethod
    def load(cls, path: str | Path) -> "Graph":
        """Read a graph that :meth:`save` wrote.

        Parameters
        ----------
        path : str or Path
            The file.

        Returns
        -------
        Graph
            As it was saved.

        Raises
        ------
        StoreError
            If the file is missing, damaged or not a graph.

        See Also
        --------
        Graph.save : Writes it.

        Examples
        --------
        >>> import tempfile
        >>> from softspread import Graph, affinity_graph
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     affinity_graph([[0, 1], [1, 0]]).save(f"{folder}/graph.npz")
        ...     Graph.load(f"{folder}/graph.npz").kind
        'affinity'
        """
        header, arrays = read_archive(path, "graph", FORMAT_VERSION)
        try:
            return cls.from_arrays(arrays, header["facts"])
        except (KeyError, TypeError) as error:
            raise StoreError(f"{path} lacks a part of a saved graph ({error}); save it again.") from error


def operator_from_affinity(A: csr_array, order: IntArray, **facts: Any) -> Graph:
    """Normalise an affinity in inner numbering, theory [operator].

    Parameters
    ----------
    A : (n, n), symmetric, no negative entry, empty diagonal
    order : (n,), the user's row of each row of A
    facts : further fields of :class:`Graph`
    """
    A.eliminate_zeros()
    A.sort_indices()
    degrees = np.asarray(A.sum(axis=1), dtype=np.float64).ravel()
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))  # 1/sqrt(0) would poison all neighbours
    counts = np.diff(A.indptr)
    weights = np.asarray(A.data, dtype=np.float64)
    weights /= np.repeat(root, counts)
    weights /= root[A.indices]
    # An operator is symmetric: its strong components are all there are, and are found without its transpose.
    n_components = int(connected_components(A, connection="strong", return_labels=False))
    return Graph(
        A.indptr.astype(np.int64),
        A.indices.astype(np.uint32),
        weights,
        degrees,
        order,
        n_components=n_components,
        **facts,
    )
