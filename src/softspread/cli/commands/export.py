"""``softspread export``: a file of soft labels in another format."""

from pathlib import Path
from typing import Annotated

import typer

from softspread.cli.options import SOFT_LABELS_OUT, FormatOption, option
from softspread.cli.runner import Run, command


@command(own=("out", "output_format"))
def export(
    run: Run,
    source: Annotated[
        Path, typer.Argument(help="Soft labels: .parquet, .csv, .tsv, .jsonl or a datasets folder.")
    ],
    out: Annotated[Path, SOFT_LABELS_OUT],
    output_format: FormatOption = "auto",
    least_evidence: Annotated[float, option("Leave out items with less evidence.")] = 0.0,
    item_field: Annotated[str, option("Label Studio: field of the data for the item.")] = "item",
    from_name: Annotated[str, option("Label Studio: name of the Choices tag.")] = "label",
    to_name: Annotated[str, option("Label Studio: name of the tag that shows the item.")] = "item",
) -> None:
    """Turn a file of soft labels into another format.

    'weighted' has one row per item and class with a weight, for any trainer that takes sample weights. A
    name without ending becomes a folder for Hugging Face datasets, .json a list of Label Studio tasks
    with predictions.

    Example: softspread export soft_labels.parquet --out train.csv --format weighted
    """
    from softspread.io.formats import check_output

    chosen = check_output(out, output_format)

    from softspread.io import soft_labels as files
    from softspread.io.label_studio import LabelStudioNames

    with run.stage("reading") as tell:
        read = files.read_soft_labels(source)
        labels = files.with_evidence(read, least_evidence)
        tell(f"{len(read):,} items, {len(labels.classes)} classes")
    with run.stage("writing"):
        names = LabelStudioNames(item_field, from_name, to_name)
        written = files.write_soft_labels(out, labels, chosen, names)
    document = {
        "n_items": len(labels),
        "left_out": len(read) - len(labels),
        "format": chosen,
        "out": written,
    }
    run.answer(document, f"{len(labels):,} items as {chosen}: {', '.join(map(str, written))}")
