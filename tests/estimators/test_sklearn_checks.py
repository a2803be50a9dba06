"""scikit-learn's own checks of estimators."""

import pytest
from sklearn.utils.estimator_checks import check_classifiers_classes, parametrize_with_checks

from softspread import (
    GaussianKernelRegression,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    VoteHistogram,
)

ESTIMATORS = [
    SoftLabeler(n_neighbors=5),
    ProbabilisticLabelSpreading(n_neighbors=5),
    VoteHistogram(),
    GaussianKernelRegression(),
    KNeighborsVotes(n_neighbors=5),
]
NO_VOTE = (
    "-1 means 'no vote' here, as in scikit-learn's semi-supervised classifiers; "
    "the check uses it as a class and exempts those classifiers by their names"
)
STAYS = (
    "an item whose label has no weight is still an item among which votes spread, and one whose label has "
    "weight 3 is one neighbour with a heavy vote, not three neighbours"
)


def known_failures(est):
    """Checks that cannot hold as they stand."""
    counts_items = isinstance(est, SoftLabeler | ProbabilisticLabelSpreading | KNeighborsVotes)
    kinds = ("dense", "sparse") if counts_items else ()
    weights = {f"check_sample_weight_equivalence_on_{kind}_data": STAYS for kind in kinds}
    return {"check_classifiers_classes": NO_VOTE, **weights}


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=known_failures)
def test_estimators_keep_scikit_learns_habits(estimator, check):
    """Cloning, parameters, shapes, types, messages: what scikit-learn expects of a classifier."""
    check(estimator)


@pytest.mark.filterwarnings("ignore::softspread.errors.SoftspreadWarning")
@pytest.mark.parametrize("est", ESTIMATORS, ids=lambda est: type(est).__name__)
@pytest.mark.parametrize("exempt", ["LabelSpreading", "LabelPropagation", "SelfTrainingClassifier"])
def test_under_an_exempt_name_the_check_of_classes_holds(est, exempt):
    """With the exemption that scikit-learn grants by name, labels of all kinds are learned and given back."""
    subclass = type(exempt, (type(est),), {"__init__": type(est).__init__})
    check_classifiers_classes(exempt, subclass(**est.get_params()))
