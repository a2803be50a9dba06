"""From embeddings (or an affinity of the user's own) to the diffusion operator S."""

from softspread.graph.builders import affinity_graph, epsilon_graph, knn_graph
from softspread.graph.graph import Graph

__all__ = ["Graph", "affinity_graph", "epsilon_graph", "knn_graph"]
