"""The table of annotators."""

import numpy as np

from softspread.annotators.report import AnnotatorFit, AnnotatorReport


def test_a_report_is_a_table_with_one_row_per_annotator():
    """Columns in the order in which they are read."""
    numbers = [np.array([value, 1 - value]) for value in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)]
    names, flags = np.array(["ann", "bob"], dtype=object), np.array(["ok", "unknown"], dtype=object)
    report = AnnotatorReport(names, *numbers, flags)
    frame = report.to_frame()
    assert frame.columns[0] == "annotator"
    assert frame.columns[-1] == "flag"
    assert len(frame) == 2
    fit = AnnotatorFit(np.ones(3), None, report, 0.9, 0.1, annotator_weights=np.array([0.5, 0.25]))
    assert fit.applied
    assert fit.weights_for(np.array(["bob", "new", None], dtype=object), 3).tolist() == [0.25, 1.0, 1.0]
    assert not AnnotatorFit(np.ones(3), None, report, 0.9, 0.1, "too few").applied
