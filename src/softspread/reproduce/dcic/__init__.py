"""The Data-Centric Image Classification benchmark, with miniature datasets that need no download."""
