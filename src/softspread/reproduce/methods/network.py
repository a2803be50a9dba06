"""A small neural network for soft targets that needs nothing but NumPy.

p = softmax(W2 relu(W1 x + b1) + b2),   loss = -sum_c target_c log p_c + decay |W|^2,   Adam
"""

from typing import Any

import numpy as np

from softspread._common.types import FloatArray

# Small, and trained long enough for a few hundred votes
HIDDEN = 64
EPOCHS = 60
BATCH = 32
RATE = 3e-3
DECAY = 1e-4
BETA1, BETA2, TINY = 0.9, 0.999, 1e-8  # Adam's usual


class SmallNetwork:
    """One hidden layer, trained by cross-entropy against soft labels (the KL divergence up to a constant).

    Examples
    --------
    >>> X = np.repeat([[0.0], [1.0]], 20, axis=0)
    >>> p = SmallNetwork(epochs=200).fit(X, np.eye(2)[np.repeat([0, 1], 20)]).predict_proba(X)
    >>> bool(p[0, 0] > 0.9 and p[-1, 1] > 0.9)
    True
    """

    def __init__(self, hidden: int = HIDDEN, epochs: int = EPOCHS, seed: int = 0) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.seed = seed
        self._weights: list[FloatArray] = []
        self._centre: Any = 0.0
        self._spread: Any = 1.0

    def fit(self, X: FloatArray, target: FloatArray) -> "SmallNetwork":
        """Train on (n, d) inputs with (n, n_classes) soft targets."""
        rng = np.random.default_rng(self.seed)
        self._centre, self._spread = X.mean(axis=0), X.std(axis=0) + 1e-3  # constant pixels stay near 0
        Z = self._scaled(X)
        sizes = (Z.shape[1], self.hidden, target.shape[1])
        self._weights = [
            rng.normal(size=(sizes[0], sizes[1])) * np.sqrt(2 / sizes[0]),
            np.zeros(sizes[1]),
            rng.normal(size=(sizes[1], sizes[2])) * np.sqrt(1 / sizes[1]),
            np.zeros(sizes[2]),
        ]
        first = [np.zeros_like(w) for w in self._weights]
        second = [np.zeros_like(w) for w in self._weights]
        step = 0
        for _ in range(self.epochs):
            order = rng.permutation(len(Z))
            for start in range(0, len(Z), BATCH):
                rows = order[start : start + BATCH]
                step += 1
                for place, slope in enumerate(self._gradient(Z[rows], target[rows])):
                    first[place] = BETA1 * first[place] + (1 - BETA1) * slope
                    second[place] = BETA2 * second[place] + (1 - BETA2) * slope**2
                    mean, square = first[place] / (1 - BETA1**step), second[place] / (1 - BETA2**step)
                    self._weights[place] = self._weights[place] - RATE * mean / (np.sqrt(square) + TINY)
        return self

    def _scaled(self, X: FloatArray) -> FloatArray:
        return np.asarray((X - self._centre) / self._spread)

    def _gradient(self, Z: FloatArray, target: FloatArray) -> list[FloatArray]:
        W1, b1, W2, b2 = self._weights
        hidden = np.maximum(Z @ W1 + b1, 0.0)
        p = _softmax(hidden @ W2 + b2)
        error = (p * target.sum(axis=1, keepdims=True) - target) / len(Z)
        back = (error @ W2.T) * (hidden > 0)
        return [Z.T @ back + DECAY * W1, back.sum(axis=0), hidden.T @ error + DECAY * W2, error.sum(axis=0)]

    def predict_proba(self, X: FloatArray) -> FloatArray:
        """Class probabilities, (n, n_classes)."""
        W1, b1, W2, b2 = self._weights
        return _softmax(np.maximum(self._scaled(X) @ W1 + b1, 0.0) @ W2 + b2)


def _softmax(scores: FloatArray) -> FloatArray:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))
