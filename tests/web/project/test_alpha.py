"""Alpha on the page: chosen as the estimators choose it, in the background, without a stop."""

import logging
import threading

import numpy as np
import pytest

from softspread.web.project import alpha as alpha_module
from softspread.web.project.alpha import AlphaRule, AlphaTuner
from softspread.web.project.live_state import AlphaChoice
from web.conftest import CLASSES, N_ITEMS, running, vote, wait_until_applied
from web.project.helpers import batch, live

NEVER = AlphaRule(fewest_votes=10**9)  # for the thread of the project; tests choose by themselves


@pytest.fixture
def auto(tmp_path):
    """A project that chooses alpha, but only when it is told to."""
    with running(tmp_path, auth=False, alpha="auto", overlap=100, alpha_rule=NEVER) as service:
        yield service


def cast_many(service, n_votes, who="ann", seed=0):
    """Votes of several people who agree, for classes that have nothing to do with neighbours."""
    rng, truth = np.random.default_rng(seed), np.random.default_rng(99).integers(3, size=N_ITEMS)
    entries = []
    for number in range(n_votes):
        row = int(rng.integers(N_ITEMS))
        label = int(truth[row])
        key = f"{who}-{seed}-{number}"
        entries.append(service.vote(f"{who}-{number}", f"item-{row:03d}", CLASSES[label], key))
    service.submit(entries).result(10)
    wait_until_applied(service)


def tuner_of(service, **rule):
    return AlphaTuner(service.state, service.history, auto=True, n_jobs=1, rule=AlphaRule(**rule))


@pytest.mark.filterwarnings("ignore:.*a second vote:softspread.errors.SoftspreadWarning")
def test_alpha_is_chosen_from_ten_votes_on_and_again_when_there_are_half_as_many_more(auto):
    """Fewer new votes change nothing."""
    tuner, seen = tuner_of(auto), []
    for n_new in (9, 1, 4, 1):
        cast_many(auto, n_new, seed=len(seen))
        tuner.choose_if_due()
        seen.append(auto.state.choice.n_votes)
    assert seen == [0, 10, 10, 15]


def test_the_live_state_goes_on_at_the_chosen_alpha(auto, caplog):
    """It is the fit at that alpha, the log says so, and the dashboard too."""
    cast_many(auto, 150)
    with caplog.at_level(logging.INFO):
        tuner_of(auto).choose()
    choice = auto.state.choice
    assert choice.alpha != 0.9
    assert auto.state.diffusion.alpha == choice.alpha
    np.testing.assert_allclose(live(auto), batch(auto), atol=1e-5)
    assert f"alpha is {choice.alpha:g} now, chosen from 150 votes" in caplog.text
    shown = auto.dashboard()["alpha"]
    assert (shown["alpha"], shown["n_votes"], shown["auto"]) == (choice.alpha, 150, True)
    assert "held-out votes" in shown["reason"]


def test_a_restart_goes_on_with_the_chosen_alpha(tmp_path):
    """The snapshot remembers it."""
    with running(tmp_path, auth=False, alpha="auto", overlap=100, alpha_rule=NEVER) as service:
        cast_many(service, 150)
        tuner_of(service).choose()
        choice, before = service.state.choice, live(service)
    with running(tmp_path, auth=False, alpha="auto", overlap=100, alpha_rule=NEVER) as service:
        assert service.started_from == "snapshot"
        assert service.state.choice == choice
        np.testing.assert_allclose(live(service), before, atol=1e-6)
    with running(tmp_path, auth=False, alpha=0.9) as service:
        assert service.started_from == "batch"
        assert service.state.choice == AlphaChoice(0.9)


def test_an_alpha_that_was_given_stays(tmp_path):
    """However many votes there are."""
    with running(tmp_path, auth=False, alpha=0.9, overlap=100) as service:
        cast_many(service, 150)
        service.tuner.choose_if_due()
        assert service.state.choice == AlphaChoice(0.9)


def test_nobody_waits_while_alpha_is_chosen(auto, monkeypatch):
    """Votes are acknowledged and applied meanwhile, and none of them is lost by the switch."""
    cast_many(auto, 150)
    begun, go_on, choose = threading.Event(), threading.Event(), alpha_module.choose_settings

    def slow(*arguments):
        begun.set()
        assert go_on.wait(30)
        return choose(*arguments)

    monkeypatch.setattr(alpha_module, "choose_settings", slow)
    thread = threading.Thread(target=tuner_of(auto).choose)
    thread.start()
    assert begun.wait(30)
    cast_many(auto, 20, who="bob")
    assert auto.state.choice.alpha == 0.9
    go_on.set()
    thread.join(30)
    assert auto.state.choice.n_votes == 150
    auto.state.refined_copy()
    np.testing.assert_allclose(live(auto), batch(auto), atol=1e-5)


def test_votes_during_a_switch_are_not_lost(auto):
    """However votes, refinements and switches interleave, the end is the fit at the last alpha."""
    cast_many(auto, 50)
    stop = threading.Event()

    def switch():
        number = 0
        while not stop.is_set():
            number += 1
            alpha = (0.5, 0.75)[number % 2]
            auto.state.switch_to(auto.state.diffusion.at(alpha), AlphaChoice(alpha))

    def refine():
        while not stop.is_set():
            auto.state.refined_copy()

    threads = [threading.Thread(target=work) for work in (switch, refine)]
    for thread in threads:
        thread.start()
    for number in range(40):
        vote(auto, f"p{number}", f"item-{number:03d}", CLASSES[number % 3], "k")
    wait_until_applied(auto)
    stop.set()
    for thread in threads:
        thread.join()
    auto.state.refined_copy()
    np.testing.assert_allclose(live(auto), batch(auto), atol=1e-5)
