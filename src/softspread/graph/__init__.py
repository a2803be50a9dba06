"""From embeddings (or an affinity of the user's own) to the diffusion operator S.

graph.py      Graph: S, degrees, order, how it was made
metrics.py    where items are: what a metric means
builders.py   knn_graph, epsilon_graph, affinity_graph
neighbors.py  exact neighbour searches, and what all searches share
cells.py      the approximate search of our own
libraries.py  searches of other libraries
automatic.py  the default search
registry.py   name -> search
search.py     neighbours by the named search
extension.py  ties of new items
"""
