"""From embeddings (or an affinity of the user's own) to the diffusion operator S.

graph.py             Graph: S, degrees, order, how it was made
places.py            where items are: what a metric means
builders.py          knn_graph, epsilon_graph, affinity_graph
neighbors.py         exact neighbour searches, and what all searches share
cells.py             the approximate search of our own
library_searches.py  searches of other libraries
default_search.py    exact or by cells
registry.py          name -> search
search.py            neighbours by the named search
extension.py         ties of new items
growing.py           items that come and go
novelty.py           items far from all others
"""
