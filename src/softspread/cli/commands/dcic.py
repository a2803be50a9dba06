"""``softspread dcic``: our method as an algorithm of the Data-Centric Image Classification benchmark."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from softspread.cli.options import number, option
from softspread.cli.runner import Run, command
from softspread.errors import InputError

if TYPE_CHECKING:
    from softspread.reproduce.dcic.benchmark import SpreadSettings

METHOD = "pls"


@dataclass(frozen=True, slots=True)
class DcicOptions:
    """How annotations are drawn and spread."""

    root: Annotated[
        Path | None,
        option("The benchmark's folder with raw_datasets; default: the one above input_datasets."),
    ] = None
    share: Annotated[
        float | None, option("Share of the images to annotate, where the input has no annotations.")
    ] = None
    annotations: Annotated[int | None, option("Annotations for each of them.", min=1)] = None
    features: Annotated[
        str | None, option("Features by name; default: clip_umap20 of reproduce prepare, else pixels.")
    ] = None
    alpha: Annotated[
        str, option("How far annotations travel, 0 to 1; auto: by held-out votes; paper: by the budget.")
    ] = "paper"
    authors: Annotated[
        bool, option("The authors' graph and prior: 19 neighbours, mean width, 1e-10.", "--authors")
    ] = False

    def settings(self) -> "SpreadSettings":
        """How annotations are spread."""
        from softspread.reproduce.dcic.benchmark import SpreadSettings

        alpha = self.alpha if self.alpha in ("paper", "auto") else number("alpha", self.alpha, float)
        return SpreadSettings.authors(alpha) if self.authors else SpreadSettings(alpha)


@command(own=("out", "root", "features", "alpha"))
def dcic(
    run: Run,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT.json|FOLDER", help="An input dataset, or the benchmark's folder for all."
        ),
    ],
    options: DcicOptions,
    out: Annotated[Path | None, option("Where to write the output dataset (.json).", "--out", "-o")] = None,
) -> None:
    """Label the images of a dataset of the DCIC benchmark.

    The input is one of the benchmark's JSON files. Where it holds no annotations yet, --share and
    --annotations draw them as the benchmark does. With the benchmark's folder instead, all datasets, the
    paper's three budgets and slices 1 to 3 are written where the benchmark's evaluation looks for them.

    Example: softspread dcic Pig-slice1.json --share 0.1 --annotations 1 -o out.json

    Example: softspread dcic data/dcic --authors
    """
    if source.is_dir():
        if out is not None or options.share is not None or options.annotations is not None:
            raise InputError(
                "with a folder everything is written below it; leave out --out, --share, --annotations."
            )
        _all(run, source, options)
    else:
        _one(run, source, options, out)


def _one(run: Run, source: Path, options: DcicOptions, out: Path | None) -> None:
    from softspread._common.atomic import check_target
    from softspread.datasets.dcic import RAW, image_id, read_raw
    from softspread.reproduce.dcic.benchmark import features_of, improve_labels
    from softspread.reproduce.dcic.files import input_dataset, read_dataset, write_dataset

    if out is None or out.suffix != ".json":
        raise InputError("where should the labels go? Add -o OUTPUT.json.")
    check_target(out)
    given = read_dataset(source)
    root = options.root or source.absolute().parents[min(2, len(source.absolute().parents) - 1)]
    if not (root / RAW / str(given["name"])).is_dir():
        raise InputError(
            f"there is no folder {root / RAW / str(given['name'])} with the images; name the benchmark's "
            "folder with --root."
        )
    raw = read_raw(root, str(given["name"]))
    if not any(image["soft_gt"] for image in given["images"]):
        if options.share is None or options.annotations is None:
            raise InputError(
                f"{source} holds no annotations; draw them as the benchmark does with --share 0.1 "
                "--annotations 1."
            )
        if not 0 < options.share <= 1:
            raise InputError(f"--share must be above 0 and at most 1, got {options.share}.")
        given = input_dataset(raw, int(given["v_fold"]), options.share, options.annotations)
    elif options.share is not None or options.annotations is not None:
        raise InputError(f"{source} holds annotations already; leave out --share and --annotations.")
    X, used = features_of(root, raw.name, raw, options.features)
    rows = {image_id(path): row for row, path in enumerate(raw.paths.tolist())}
    unknown = [image["path"] for image in given["images"] if image_id(image["path"]) not in rows]
    if unknown:
        raise InputError(
            f"{len(unknown)} images of {source} are not below {root / RAW}, such as {unknown[0]}."
        )
    order = [rows[image_id(image["path"])] for image in given["images"]]
    write_dataset(out, improve_labels(given, X[order], options.settings()))
    _warn_of_pixels(run, raw.name, used)
    document = {
        "out": out,
        "dataset": raw.name,
        "images": len(order),
        "budget": given["budget"],
        "features": used,
    }
    run.answer(
        document,
        f"{len(order):,} images of {raw.name} labelled from {given['budget']:,} annotations by {used}: {out}",
    )


def _all(run: Run, root: Path, options: DcicOptions) -> None:
    from softspread.datasets.dcic import HELP, names_below, read_raw
    from softspread.reproduce.dcic.benchmark import BUDGETS, features_of, improve_labels
    from softspread.reproduce.dcic.files import (
        SLICES,
        dataset_folder,
        input_dataset,
        output_path,
        write_dataset,
    )

    names = names_below(root)
    if not names:
        raise InputError(f"{root} holds no dataset of the DCIC benchmark. {HELP}")
    settings, written = options.settings(), list[Path]()
    for name in names:
        raw = read_raw(root, name)
        with run.stage(name) as tell:
            X, used = features_of(root, name, raw, options.features)
            for share, each in BUDGETS.values():
                folder = dataset_folder(name, METHOD, each, share)
                for part in SLICES:
                    made = improve_labels(input_dataset(raw, part, share, each), X, settings)
                    written.append(write_dataset(output_path(root, folder, part), made))
            tell(f"{len(raw.paths):,} images, {used}")
        _warn_of_pixels(run, name, used)
    folders: Any = list(dict.fromkeys(path.parent.name for path in written))
    evaluate = f"python -m src.evaluation.evaluate --mode soft --folders {','.join(folders)}"
    run.answer(
        {"written": written, "folders": folders, "evaluate": evaluate},
        f"{len(written)} files in {root / 'output_datasets'}. In the benchmark's repository:\n{evaluate}",
    )


def _warn_of_pixels(run: Run, name: str, used: str) -> None:
    if used.startswith("pixels"):
        run.warn(
            f"{name} has no features; principal components of its pixels were used. 'softspread reproduce "
            f"prepare dcic:{name} --data ...' makes the paper's."
        )
