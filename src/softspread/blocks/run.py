"""A run from files to labelled files: stages one after the other, each finished before the next begins.

    manifest  ->  graph in blocks  ->  choice and votes  ->  scales  ->  solve  ->  soft labels  ->  a folder

Whatever is there from an earlier attempt is kept: blocks that exist whole, the last checkpoint of the solve.
A work folder belongs to one input and one choice of settings; anything else is refused, or starts over on
request.
"""

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from softspread._common.digests import hash_values
from softspread._common.progress import progress_bar
from softspread._common.versions import version_of
from softspread.blocks.choosing import choose
from softspread.blocks.drivers import Driver
from softspread.blocks.inputs import Inputs, write_votes
from softspread.blocks.job import BlockSettings, Job
from softspread.blocks.labels import check_part, parts_folder
from softspread.blocks.neighbors import EXACT
from softspread.blocks.operator import kernel_width
from softspread.blocks.solve import SEGMENT, n_steps, segments, stage_after
from softspread.blocks.store import BlockStore, DamagedBlockError
from softspread.diffusion.solver import entry_bound
from softspread.errors import SoftspreadWarning, StoreError
from softspread.graph.neighbors import LOW_RECALL
from softspread.io.soft_labels import PARTS_FACTS

MANIFEST = "manifest.json"
FORMAT = 3  # 3: items are gathered by groups of cells
Stage = Callable[[str], AbstractContextManager[Callable[[str], None]]]


def open_store(url: str, made_from: Mapping[str, Any], *, restart: bool = False) -> BlockStore:
    """The store of a run; a folder of another run is refused by what differs, or emptied on request."""
    wanted = {"format": FORMAT, "softspread": version_of("softspread"), **made_from}
    store = BlockStore(url, hash_values(wanted))
    found = store.read_bytes(MANIFEST)
    if found is None and not restart and store.is_local and _holds_files(store):
        raise StoreError(f"{url} holds other files. Name a new or an empty folder for the blocks.")
    if found is not None and restart:
        store.remove()
        found = None
    if found is None:
        store.write_bytes(json.dumps(wanted, indent=2).encode(), MANIFEST)
        return store
    differs = _differences(url, found, wanted)
    if differs:
        raise StoreError(
            f"{url} holds the blocks of a run with another {differs}. Restart it (restart=True, "
            f"--restart) to "
            "remove them and begin again, or name another work folder."
        )
    return store


def _holds_files(store: BlockStore) -> bool:
    folder = Path(store.path())
    return folder.is_dir() and any(folder.iterdir())


def _differences(url: str, found: bytes, wanted: Mapping[str, Any]) -> str:
    """Differences between two runs, in words; empty for the same run."""
    try:
        before = json.loads(found)
    except ValueError as error:
        raise StoreError(
            f"{url}/{MANIFEST} is damaged ({error}); restart the run, or name another folder."
        ) from error
    names = [name for name in wanted if before.get(name) != json.loads(json.dumps(wanted[name]))]
    return ", ".join(names)


@dataclass(slots=True)
class Runner:
    """One run on its way; ``job`` grows with what stages have found."""

    job: Job
    inputs: Inputs
    driver: Driver
    show: bool = False

    def complete(self, stage: str, n_blocks: int) -> list[dict[str, Any]]:
        """Make what is missing of a stage; the facts of all its blocks."""
        missing = sorted(set(range(n_blocks)) - self.job.store.present(stage))
        with progress_bar(stage, n_blocks, self.show) as advance:
            advance(n_blocks - len(missing))
            for _ in self._repairing(stage, missing):
                advance(1)
        return [self._facts(stage, number) for number in range(n_blocks)]

    def _repairing(self, stage: str, numbers: list[int]) -> Iterator[int]:
        left = set(numbers)
        while left:
            try:
                for number, repaired in self.driver.run(self.job, stage, sorted(left)):
                    self._tell(repaired)
                    left.discard(number)
                    yield number
            except DamagedBlockError as damaged:
                self._repair(damaged)

    def _facts(self, stage: str, number: int) -> dict[str, Any]:
        try:
            return self.job.store.facts(stage, number)
        except DamagedBlockError as damaged:
            self._tell([str(damaged)])
            for _ in self._repairing(stage, [number]):
                pass
            return self.job.store.facts(stage, number)

    def _repair(self, damaged: DamagedBlockError) -> None:
        """Make a block again that only this process can make."""
        self._tell([str(damaged)])
        stage, number = damaged.stage, damaged.number
        if stage == "names":
            self.inputs.write_names(self.job, number)
        elif stage == "given":
            self.inputs.write_block(self.job, number)
        elif stage in ("choice", "votes"):
            self._choose_again()
        elif stage.startswith("mass-"):
            self.job.store.forget(stage)
            self.solve()
        else:
            raise damaged

    @staticmethod
    def _tell(repaired: list[str]) -> None:
        for text in repaired:
            warnings.warn(text, SoftspreadWarning, stacklevel=3)

    def know(self, **facts: Any) -> None:
        """Add what a stage has found to what later tasks see."""
        self.job = replace(self.job, facts=self.job.facts | facts)

    # -------------------------------------------------------------------------------------------- stages
    def build_graph(self) -> dict[str, Any]:
        """Everything up to the operator; facts of the graph."""
        n_cells = self.complete("cells", 1)[0]["n_cells"]
        parts = self.complete("assign", self.job.n_chunks)
        self.know(sizes=np.sum([part["sizes"] for part in parts], axis=0).tolist(), n_cells=n_cells)
        self.complete("gathered", self.job.n_groups)
        n = self.job.layout.n_blocks
        vectors = self.complete("vectors", n)
        self.know(visitors=_turned([[block for block, _ in facts["visits"]] for facts in vectors]))
        self.know(radii=[facts["radius"] for facts in vectors])
        if self.job.settings.index not in EXACT:
            self.complete("lists", n)
            self.complete("merged", n)
        near, settings = self.complete("neighbors", n), self.job.settings
        self.know(sigma2=kernel_width(settings.bandwidth, near, settings.n_neighbors))
        recall = self.complete("recall", 1)[0]["recall"]
        if recall < LOW_RECALL:
            warnings.warn(
                f"only {recall:.1%} of the neighbours were found on a sample of items; take larger "
                "blocks, index='exact', or fewer dimensions.",
                SoftspreadWarning,
                stacklevel=2,
            )
        halves = self.complete("halves", n)
        self.know(pointing=_turned([facts["touched"] for facts in halves]))
        rows = self.complete("affinity", n)
        self.know(most_degree=max(facts["most"] for facts in rows))
        touched = self.complete("operator", n)
        self.know(touched=[facts["touched"] for facts in touched])
        return {
            "edges": sum(facts["edges"] for facts in rows) // 2,
            "isolated": sum(facts["isolated"] for facts in rows),
            "recall": recall,
            "index": settings.index,
            "sigma2": self.job.facts["sigma2"],
            "blocks": n,
            "touched_per_block": float(np.mean([len(facts["touched"]) for facts in touched])),
            "halo_per_item": sum(facts["halo"] for facts in touched) / self.job.source.n_items,
        }

    def take_votes(self) -> dict[str, Any]:
        """Settings as numbers, and what each task needs of votes, names and prior."""
        store, n = self.job.store, self.job.layout.n_blocks
        if not store.present("names"):
            self.inputs.write_names(self.job, 0)
        for block in sorted(set(range(n)) - store.present("given")):
            self.inputs.write_block(self.job, block)
        if not store.present("choice") or store.present("votes") != set(range(n)):
            self._choose_again()
        chosen = self._facts_of_choice()
        self.know(alpha=chosen["alpha"], prior_strength=chosen["prior_strength"])
        return chosen

    def _facts_of_choice(self) -> dict[str, Any]:
        try:
            return self.job.store.facts("choice", 0)
        except DamagedBlockError as damaged:
            self._repair(damaged)
            return self.job.store.facts("choice", 0)

    def _choose_again(self) -> None:
        chosen = choose(self.job, self.inputs)
        facts = {"alpha": chosen.alpha, "prior_strength": chosen.prior_strength, **chosen.facts}
        write_votes(self.job, chosen.counted, self.inputs.n_classes)
        self.job.store.write("choice", 0, {}, facts)  # last: it says that the votes stand, too

    def find_scales(self) -> dict[str, Any]:
        """Scales of all voted items."""
        fitted = self.complete("remainder", 1)[0]
        self.know(multiple=fitted["multiple"])
        found = self.complete("scales", self.job.layout.n_blocks)
        self.know(open=sorted(place for facts in found for place in facts["open"]))
        far = self.complete("far", 1)[0]
        certified = max([far["error"], *(facts["error"] for facts in found)])
        return {
            "certified": certified,
            "estimated": min(certified, fitted["error"]),
            "global_solves": far["solves"],
        }

    def solve(self) -> dict[str, Any]:
        """Mass of all items, from the last checkpoint that is whole; what the residual is."""
        total, store, n = n_steps(self.job), self.job.store, self.job.layout.n_blocks
        ends = [last for _, last in segments(total, SEGMENT)]
        done = next((step for step in reversed(ends) if self._is_whole(stage_after(step))), 0)
        spans = [(first, last) for first, last in segments(total, SEGMENT) if last > done]
        with progress_bar("steps", total, self.show) as advance:
            advance(done)
            for step in self.driver.solve(self.job, spans, self.inputs.n_classes):
                advance(step - done)
                for older in ends[: max(0, ends.index(step) - 1)]:
                    store.forget(stage_after(older))
                done = step
        facts = [store.facts(stage_after(total), block) for block in range(n)]
        asked, left = (np.sum([one[name] for one in facts], axis=0) for name in ("asked", "left"))
        residual = float(np.sqrt(np.max(left / np.where(asked > 0, asked, 1.0), initial=0.0)))
        bound = entry_bound(self.job.facts["alpha"], float(np.sqrt(np.max(left, initial=0.0))))
        return {"solver": "chebyshev", "iterations": total, "residual": residual, "bound": bound}

    def _is_whole(self, stage: str) -> bool:
        """Whether all blocks of a checkpoint can be read; a damaged one is named and removed."""
        store, n = self.job.store, self.job.layout.n_blocks
        if store.present(stage) != set(range(n)):
            store.forget(stage)
            return False
        for block in range(n):
            try:
                store.read(stage, block)
            except DamagedBlockError as damaged:
                self._tell([str(damaged)])
                store.forget(stage)
                return False
        return True

    def write_labels(self, facts: Mapping[str, Any]) -> dict[str, Any]:
        """All parts, checked, under the target's name; what they add up to."""
        n, folder = self.job.layout.n_blocks, parts_folder(self.job)
        found = self.complete("labels", n)
        for block in range(n):
            try:
                check_part(self.job, block)
            except DamagedBlockError as damaged:
                self._tell([str(damaged)])
                for _ in self._repairing("labels", [block]):
                    pass
        verdicts: dict[str, int] = {}
        for one in found:
            for word, count in one["verdicts"].items():
                verdicts[word] = verdicts.get(word, 0) + count
        evidence = sum(one["evidence"] for one in found) / self.job.source.n_items
        document = {**facts, "verdicts": verdicts, "mean_evidence": evidence, "parts": n}
        folder.write_bytes(json.dumps(document, indent=2, default=str).encode(), PARTS_FACTS)
        _give_name(folder, self.job.facts["out"])
        return document


def _turned(lists: list[list[int]]) -> dict[str, list[int]]:
    """Who names each block, by the names of blocks; a block that names itself is left out."""
    found: dict[str, list[int]] = {}
    for block, others in enumerate(lists):
        for other in others:
            if other != block:
                found.setdefault(str(other), []).append(block)
    return found


def _give_name(folder: BlockStore, out: str) -> None:
    """The finished folder under its name; an older result of ours is replaced."""
    target = BlockStore(out, folder.key)
    if not folder.is_local:
        target.remove()
        folder._where[0].mv(folder.path(), target.path(), recursive=True)
        return
    final, old = Path(target.path()), Path(target.path() + ".old")
    if final.exists():
        final.rename(old)
    Path(folder.path()).rename(final)
    if old.exists():
        shutil.rmtree(old)


def check_out(out: str) -> None:
    """Refuse a target that is not a folder of ours, before any work is done."""
    target = BlockStore(out, "")
    if not target.is_local:
        return
    path = Path(target.path())
    if path.exists() and not (path / PARTS_FACTS).is_file():
        raise StoreError(
            f"cannot write {out}: it exists and is not a folder of soft labels in parts. Name another, or "
            f"remove it."
        )
    if not path.absolute().parent.is_dir():
        raise StoreError(f"cannot write {out}: there is no folder {path.parent}. Create it, or name another.")


def made_from(settings: BlockSettings, source_key: str, inputs: Inputs, out: str) -> dict[str, Any]:
    """All that a run depends on, by names that a message can use."""
    return {"embeddings": source_key, **inputs.digests(), **asdict(settings), "out": str(out)}
