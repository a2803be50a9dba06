"""Slow and obvious: what the fast code must agree with, in plain loops."""

import math

import numpy as np


def squared_distance(x, y):
    """Sum of squared differences of two vectors."""
    return math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True))


def nearest_neighbors(X, n_neighbors):
    """Numbers and squared distances of the nearest other items of each item; equal distances by number."""
    n = len(X)
    indices = np.zeros((n, n_neighbors), dtype=int)
    squared = np.zeros((n, n_neighbors))
    for i in range(n):
        others = sorted((squared_distance(X[i], X[j]), j) for j in range(n) if j != i)
        for place, (distance, j) in enumerate(others[:n_neighbors]):
            indices[i, place], squared[i, place] = j, distance
    return indices, squared


def bandwidth(squared, rule):
    """sigma**2 of the Gaussian kernel from the squared distances to the neighbours."""
    if rule == "kth":
        return sum(row[-1] for row in squared) / len(squared)
    if rule == "mean":
        return sum(sum(row) for row in squared) / squared.size
    return rule


def knn_affinity(X, n_neighbors, rule="kth"):
    """Dense (W + W^T) / 2 and sigma**2."""
    n = len(X)
    indices, squared = nearest_neighbors(X, n_neighbors)
    sigma2 = bandwidth(squared, rule)
    W = np.zeros((n, n))
    for i in range(n):
        for j, distance in zip(indices[i], squared[i], strict=True):
            W[i, j] = 1.0 if sigma2 == 0 else math.exp(-distance / (2 * sigma2))
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = (W[i, j] + W[j, i]) / 2
    return A, sigma2


def epsilon_affinity(X, radius):
    """Dense affinity with 1 for every pair within the radius."""
    n = len(X)
    A = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            A[i, j] = float(i != j and squared_distance(X[i], X[j]) <= radius**2)
    return A


def operator(A, normalization="symmetric"):
    """Dense S; an item without ties keeps an empty row."""
    n = len(A)
    degrees = [sum(row) for row in A]
    S = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if A[i, j] > 0:
                scale = (
                    degrees[i]
                    if normalization == "random_walk"
                    else math.sqrt(degrees[i]) * math.sqrt(degrees[j])
                )
                S[i, j] = A[i, j] / scale
    return S


def inverse(S, alpha):
    """Dense M = (I - alpha S)^-1."""
    return np.linalg.inv(np.eye(len(S)) - alpha * np.asarray(S))


def scaled_profile(S, row, alpha, scaling="peak"):
    """How far one vote on an item reaches every item."""
    phi = inverse(S, alpha)[:, row]
    return phi / {"peak": max(phi), "source": phi[row], "none": 1.0}[scaling]


def algorithm_1(S, rows, columns, weights, n_classes, alpha, scaling="peak"):
    """Mass per class by one profile per vote."""
    n = len(S)
    mass = np.zeros((n, n_classes))
    for row, column, weight in zip(rows, columns, weights, strict=True):
        phi = scaled_profile(S, row, alpha, scaling)
        for i in range(n):
            mass[i, column] += weight * phi[i]
    return mass


def soft_labels(mass, prior, strength):
    """(Y + kappa prior) / (N + kappa), and the prior where there is neither."""
    p = np.zeros_like(mass)
    for i in range(len(mass)):
        total = sum(mass[i]) + strength
        for c in range(mass.shape[1]):
            p[i, c] = (mass[i, c] + strength * prior[i][c]) / total if total > 0 else prior[i][c]
    return p


def vote_counts(rows, columns, weights, n, n_classes):
    """Total weight per item and class."""
    counts = np.zeros((n, n_classes))
    for row, column, weight in zip(rows, columns, weights, strict=True):
        counts[row, column] += weight
    return counts


def kernel_mass(X, counts, queries, gamma):
    """Every vote reaches every query with weight exp(-gamma squared distance)."""
    mass = np.zeros((len(queries), counts.shape[1]))
    for i, query in enumerate(queries):
        for j, x in enumerate(X):
            mass[i] += math.exp(-gamma * squared_distance(query, x)) * counts[j]
    return mass


def neighbor_votes(X, counts, queries, n_neighbors):
    """All votes of the nearest voted items of each query."""
    voted = [j for j in range(len(X)) if counts[j].any()]
    mass = np.zeros((len(queries), counts.shape[1]))
    for i, query in enumerate(queries):
        nearest = sorted(voted, key=lambda j: (squared_distance(query, X[j]), j))[:n_neighbors]
        for j in nearest:
            mass[i] += counts[j]
    return mass


def newcomer_ties(X, A, sigma2, queries, n_neighbors, normalization="symmetric"):
    """Rows of the operator for items that are added to a nearest-neighbour graph one at a time."""
    degrees = [sum(row) for row in A]
    ties = np.zeros((len(queries), len(X)))
    for i, query in enumerate(queries):
        nearest = sorted((squared_distance(query, x), j) for j, x in enumerate(X))[:n_neighbors]
        weights = {j: 0.5 * math.exp(-distance / (2 * sigma2)) for distance, j in nearest}
        own = sum(weights.values())
        for j, weight in weights.items():
            ties[i, j] = weight / (own if normalization == "random_walk" else math.sqrt(own * degrees[j]))
    return ties
