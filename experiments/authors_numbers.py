"""Means of the authors' published runs, as ``src/softspread/reproduce/authors.csv`` holds them.

    python experiments/authors_numbers.py ../shared/reference src/softspread/reproduce/authors.csv

Each row is one setting: study (one for each of their files), dataset, features, method, its main parameter
(alpha, gamma or k), their k of the graph (which counts the item itself), votes, the measure, its mean and
standard deviation over the runs, and how many runs there are. Runs without a number are not counted.
"""

import sys
from pathlib import Path

import pandas as pd

DATASETS = {
    "TwoMoons": "two_moons",
    "ANIMALS10": "animals10",
    "EMNIST": "emnist_digits",
    "CIFAR10": "cifar10",
    "CIFAR10-H": "cifar10h",
    "TinyImageNet": "tiny_imagenet",
    "MTSD": "mtsd",
}
FEATURES = {"NONE": "coordinates", "RESNET+UMAP": "resnet+umap", "VIT+UMAP": "vit+umap"}
FILES = {  # study: file, method, main parameter
    "evaluate_pls": ("pls_evaluate_all_datasets", "pls", "alpha"),
    "evaluate_gkr": ("gaussian_baseline_evaluate_all_datasets", "gkr", "gamma"),
    "evaluate_knn": ("knn_baseline_evaluate_all_datasets", "knn", "k"),
    "features": ("pls_ablation_feature_space", "pls", "alpha"),
    "dimensions": ("pls_vary_embedding_dimension", "pls", "alpha"),
    "alpha_k": ("pls_vary_hyperparameters_on_CIFAR10-H", "pls", "alpha"),
    "neighbors": ("pls_vary_k_neighbors", "pls", "alpha"),
    "sweep_gkr": ("gaussian_baseline_vary_hyperparameters_on_CIFAR10-H", "gkr", "gamma"),
    "sweep_knn": ("knn_baseline_vary_hyperparameters_on_CIFAR10-H", "knn", "k"),
}
KEYS = ["study", "dataset", "features", "method", "value", "graph_k", "votes", "measure"]


def collect(folder: Path) -> pd.DataFrame:
    """All means, one row per setting."""
    parts = []
    for study, (name, method, parameter) in FILES.items():
        runs = pd.read_csv(folder / f"{name}.csv", index_col=0)
        technique = runs["dim_reduction_technique"].replace(FEATURES).str.lower()
        parts.append(
            pd.DataFrame(
                {
                    "study": study,
                    "dataset": runs["dataset"].map(DATASETS),
                    "features": technique + runs["dimension"].astype(str),
                    "method": method,
                    "value": runs[parameter],
                    "graph_k": runs["k"] if method == "pls" else -1,
                    "votes": runs["n_samples"],
                    "measure": "rmse",
                    "number": runs["RMSE"],
                }
            )
        )
    split = pd.read_csv(folder / "test_and_training_performance.csv", index_col=0)
    for measure, column in (("rmse_train", "training_rmse"), ("rmse_test", "test_rmse")):
        parts.append(
            pd.DataFrame(
                {
                    "study": "train_test",
                    "dataset": "cifar10h",
                    "features": "clip+umap20",
                    "method": "pls",
                    "value": split["alpha"],
                    "graph_k": 20,
                    "votes": split["n_samples"],
                    "measure": measure,
                    "number": split[column],
                }
            )
        )
    zero = pd.read_csv(folder / "clip_zero_shot_results.csv", index_col=0)
    parts.append(
        pd.DataFrame(
            {
                "study": "zero_shot",
                "dataset": zero["dataset"].map(DATASETS),
                "features": "clip",
                "method": "model",
                "value": -1,
                "graph_k": -1,
                "votes": 0,
                "measure": "rmse",
                "number": zero["RMSE"],
            }
        )
    )
    runs = pd.concat(parts, ignore_index=True)
    runs["value"] = runs["value"].astype(float)
    groups = runs.groupby(KEYS, sort=False)["number"]
    found = pd.DataFrame({"mean": groups.mean(), "spread": groups.std(ddof=1), "runs": groups.count()})
    return found[found["runs"] > 0].reset_index()


def main(folder: str, path: str) -> None:
    """Write the table."""
    collect(Path(folder)).round({"mean": 6, "spread": 6}).to_csv(path, index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
