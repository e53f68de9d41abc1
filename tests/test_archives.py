"""Archives: a run that is killed at any moment goes on where it was, and what no run can do is said in one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli_run import FIGURE_BVH, ran
from inside.cli import many_files, workers
from test_cli_main import process

import viewer
from viewer.errors import MachineError, OutputError

CM = ("--units", "cm", "--up", "y")
COUNT = 40
_PATHS = (str(Path(viewer.__file__).parent.parent), os.environ.get("PYTHONPATH"))
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, _PATHS))}


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with `in` of 40 files in four folders; the current one."""
    for number in range(COUNT):
        file = tmp_path / "in" / f"d{number % 4}" / f"f{number:02}.bvh"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(FIGURE_BVH.replace("0 90 0 0", f"{number} 90 0 0"), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(folder: Path) -> list[dict[str, Any]]:
    text = (folder / many_files.JOURNAL).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def outputs(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != many_files.JOURNAL)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX has them")
@pytest.mark.parametrize("group", [False, True])
def test_a_killed_run_goes_on_and_makes_every_file_once(
    capsys: pytest.CaptureFixture[str], archive: Path, group: bool
) -> None:
    """Half of the kills end the command alone, half its workers as well."""
    assert ran(capsys, "convert", "in", "-o", "serial", *CM).code == 0
    call = [sys.executable, "-m", "viewer", "convert", "in", "-o", "out", *CM, "--jobs", "2", "--resume", "--quiet"]
    started = subprocess.Popen(call, start_new_session=True, env=ENVIRONMENT)
    while len(list(archive.glob("out/*/*.bvh"))) < COUNT // 4 and started.poll() is None:
        time.sleep(0.02)
    if group:
        os.killpg(started.pid, signal.SIGKILL)
    else:
        started.kill()
    started.wait()
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--resume")
    assert done.code == 0
    assert outputs(archive / "out") == outputs(archive / "serial")
    logged = lines(archive / "out")
    assert sorted(line["output"] for line in logged) == sorted(
        str(Path("out", name)) for name in outputs(archive / "out")
    )
    assert all(line["status"] == "ok" and len(line["sha256"]) == 64 and line["seconds"] >= 0 for line in logged)


def ends_its_process(log: str, item: str) -> str:
    """As work: one item ends every process that does it, one the first of them."""
    with Path(log).open("a", encoding="utf-8") as file:
        file.write(f"{item}\n")
    tried = Path(log).read_text(encoding="utf-8").splitlines().count(item)
    if item == "fatal" or (item == "once" and tried == 1):
        os._exit(9)
    return item.upper()


def test_what_ends_two_workers_is_set_aside_and_the_rest_goes_on(tmp_path: Path) -> None:
    log = tmp_path / "log"
    items = ["a", "fatal", "once", *(f"i{number}" for number in range(12))]
    done = list(workers.tried_each(partial(ends_its_process, str(log)), items, 2))
    assert [item for item, _ in done] == items
    results = dict(done)
    said = "fatal: set aside: the process that worked on it was ended from outside, 2 times"
    assert (str(results.pop("fatal").result), {found.result for found in results.values()}) == (
        said, {item.upper() for item in items if item != "fatal"},
    )  # fmt: skip
    tried = log.read_text(encoding="utf-8").splitlines()
    assert {item: tried.count(item) for item in items} == dict.fromkeys(items, 1) | {"fatal": 2, "once": 2}


def test_what_was_set_aside_stays_so_until_it_changes(capsys: pytest.CaptureFixture[str], archive: Path) -> None:
    assert ran(capsys, "convert", "in", "-o", "out", *CM).code == 0
    out = archive / "out" / "d0" / "f00.bvh"
    out.unlink()
    said = "in/d0/f00.bvh: set aside: the process that worked on it was ended from outside, 2 times"
    changed = [
        line | {"ok": False, "status": "set aside", "error": said} if line["output"].endswith("f00.bvh") else line
        for line in lines(archive / "out")
    ]
    (archive / "out" / many_files.JOURNAL).write_text("\n".join(map(json.dumps, changed)) + "\n", encoding="utf-8")
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--resume")
    assert done == (1, "0 of 40 files converted, 39 done before, 1 failed\n", f"warning: as before: {said}\n")
    assert not out.exists()
    file = archive / "in" / "d0" / "f00.bvh"
    file.write_text(FIGURE_BVH.replace("Time: 0.1", "Time: 0.5"), encoding="utf-8")
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--resume")
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 of 40 files converted, 39 done before")


def test_a_touched_file_is_not_done_again(capsys: pytest.CaptureFixture[str], archive: Path) -> None:
    assert ran(capsys, "convert", "in", "-o", "out", *CM).code == 0
    os.utime(archive / "in" / "d1" / "f01.bvh", (1, 1))
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--resume")
    assert done.out == "0 of 40 files converted, 40 done before\n"


def test_a_full_disk_ends_the_run_in_one_line(
    capsys: pytest.CaptureFixture[str], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (archive / "in").is_dir()

    def full(_: object, path: Path, **__: object) -> None:
        raise OutputError(f"{path}: cannot be written: the disk is full")

    monkeypatch.setattr("viewer.formats.save.save", full)
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--quiet")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        f"error: {Path('out', 'd0', 'f00.bvh')}: cannot be written: the disk is full",
        "error: stopped after 1 of 40 files: make room, then --resume continues",
    ]


def test_what_earlier_runs_made_from_a_folder_is_no_input_of_it(
    capsys: pytest.CaptureFixture[str], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever in it they were put, from wherever the command ran, and wherever all was moved to since."""

    def converted(name: str, out: str) -> tuple[int, list[str]]:
        done = ran(capsys, "convert", name, "-o", out, *CM)
        assert done.code == 0, done.err
        return done.out.count("wrote "), [line for line in done.err.splitlines() if "earlier runs" in line]

    left_out = "in: left out {} files made from others in it by earlier runs"
    assert converted("in", "in/one") == (COUNT, [])
    assert converted("in", "in/two") == (COUNT, [left_out.format(COUNT)])
    assert converted("in", "in/{stem}-x.bvh") == (COUNT, [left_out.format(2 * COUNT)])
    assert converted("in", "in/{stem}-y.bvh") == (COUNT, [left_out.format(3 * COUNT)])
    (archive / "in").rename(archive / "moved")
    monkeypatch.chdir(archive / "moved")
    assert converted(".", "../three")[0] == COUNT
    assert set(outputs(archive / "three")) == {f"d{n % 4}/f{n:02}.bvh" for n in range(COUNT)}
    # A folder of results that is named is read, and so is what was made from files elsewhere.
    assert converted("one", "../four") == (COUNT, [])
    monkeypatch.chdir(archive)
    assert converted("four", "five") == (COUNT, [])
    # What is left of an input that is gone is an input.
    (archive / "moved" / "d1" / "f01.bvh").unlink()
    assert converted("moved", "six")[0] == COUNT - 1 + 4
    (archive / "three" / many_files.JOURNAL).write_text('no log\n[]\n{"from": 1}\n{"from": "a"}\n', encoding="utf-8")
    assert converted("three", "seven") == (COUNT, [])


def test_folders_are_solved_and_drawn(capsys: pytest.CaptureFixture[str], archive: Path) -> None:
    (archive / "bad.bvh").write_text("HIERARCHY\n", encoding="utf-8")
    (archive / "goals.json").write_text('{"type": "goals", "goals": [{"effector": "Knee", "position": [0, 1, 0]}]}')
    few = archive / "few"
    few.mkdir()
    for number in range(3):
        (few / f"f{number}.bvh").write_text(FIGURE_BVH, encoding="utf-8")
    (few / "bad.bvh").write_text("HIERARCHY\n", encoding="utf-8")
    done = ran(capsys, "solve", "few", "goals.json", "-o", "poses", *CM, "--backend", "numpy")
    assert (done.code, done.out.splitlines()[-1]) == (1, "3 of 4 files solved, 1 failed")
    assert sorted(outputs(archive / "poses")) == ["f0.json", "f1.json", "f2.json"]
    *documents, _ = ran(capsys, "solve", "few", "goals.json", "-o", "poses", *CM, "--json").json
    solved = [(one["file"], one["output"], one["status"]) for one in documents if "error" not in one]
    assert solved == [(f"few/f{i}.bvh", f"poses/f{i}.json", "converged") for i in range(3)]
    one = ran(capsys, "solve", "few/f0.bvh", "goals.json", "-o", "alone.json", *CM, "--backend", "numpy")
    assert one.code == 0
    assert (archive / "alone.json").read_bytes() == (archive / "poses" / "f0.json").read_bytes()
    done = ran(capsys, "solve", "few", "goals.json", "-o", "one.json", *CM)
    assert (done.code, done.err.splitlines()[-1]) == (
        2, "ikviewer solve: error: argument -o: one.json is one file: expected -o FOLDER or -o '{stem}.json'",
    )  # fmt: skip
    assert ran(capsys, "solve", "few", "goals.json", *CM).code == 2


def test_what_fits_one_file_and_not_another_is_said_of_that_one(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "a.bvh").write_text(FIGURE_BVH, encoding="utf-8")
    (tmp_path / "two" / "b.bvh").write_text(FIGURE_BVH.replace("Knee", "Shin"), encoding="utf-8")
    (tmp_path / "goals.json").write_text('{"type": "goals", "goals": [{"effector": "Knee", "position": [0, 1, 0]}]}')
    done = ran(capsys, "solve", "two", "goals.json", "-o", "poses", *CM, "--backend", "numpy")
    line = (
        'error: two/b.bvh: goals.json: goals[0]: no effector, joint or tip "Knee"; there is "Shin.tip", "Hips", "Shin"'
    )
    assert (done.code, [said for said in done.err.splitlines() if "error" in said]) == (1, [line])
    done = ran(capsys, "convert", "two", "-o", "posed", *CM, "--pose", "crouch")
    assert [said for said in done.err.splitlines() if "error" in said] == [
        f'error: two/{name}.bvh: no pose "crouch"; there is "relaxed", "rest"' for name in "ab"
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("retarget", "in", "--to", "gone.json", "-o", "out"),
        ("retarget", "in", "--to", "sample:biped", "--map", "gone.json", "-o", "out"),
        ("convert", "in", "-o", "out", "--rig", "gone.json"),
        ("feet", "in", "--plant", "--contacts", "gone.json", "-o", "out"),
        ("solve", "in", "gone.json", "-o", "out"),
    ],
)
def test_a_file_that_all_need_and_that_is_not_there_is_said_once(
    capsys: pytest.CaptureFixture[str], archive: Path, words: tuple[str, ...]
) -> None:
    done = ran(capsys, *words, *CM)
    assert (done.code, done.out, done.err) == (1, "", "error: gone.json: no such file or folder\n")
    assert not (archive / "out").exists()


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("solve", "in", "-o", "out"), "expected GOALS or --goals-from FILE.py:NAME, found neither"),
        (("solve", "in", "g.json", "-o", "out", "--solver", "ccd", "--damping", "1"), "--damping: ccd has no use for"),
        (("check", "in", "--limits-from", "humn"), 'argument --limits-from: no source "humn"; did you mean "human"'),
    ],
)
def test_wrong_usage_is_said_once_and_not_of_each_file(
    capsys: pytest.CaptureFixture[str], archive: Path, words: tuple[str, ...], line: str
) -> None:
    done = ran(capsys, *words)
    assert (done.code, done.out) == (2, "")
    assert line in done.err.splitlines()[-1]
    assert not (archive / "out").exists()


# --- a cluster


def test_a_scheduler_that_is_not_there(capsys: pytest.CaptureFixture[str], archive: Path) -> None:
    pytest.importorskip("distributed")
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--scheduler", "tcp://127.0.0.1:9", "--quiet")
    said = "error: --scheduler tcp://127.0.0.1:9: no scheduler answers within 10 s: start one with: dask scheduler\n"
    assert (done.code, done.err) == (3, said)
    assert outputs(archive / "out") == {}


def test_without_dask_the_line_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    done = ran(capsys, "convert", "in", "-o", "out", *CM, "--scheduler", "tcp://127.0.0.1:9", "--quiet")
    assert done.code == 3
    assert done.err == "error: --scheduler needs distributed: python3 -m pip install distributed\n"
    assert outputs(archive / "out") == {}


@pytest.fixture
def cluster() -> Iterator[Any]:
    """Two workers of this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=None
    ) as made:
        yield made


@pytest.mark.skipif(os.name != "posix", reason="kills as POSIX has them")
def test_a_cluster_does_the_same_and_bears_the_end_of_a_worker(
    capsys: pytest.CaptureFixture[str],
    archive: Path,
    cluster: Any,  # noqa: ANN401 - Dask may not be installed
) -> None:
    assert ran(capsys, "convert", "in", "-o", "serial", *CM).code == 0
    call = [sys.executable, "-m", "viewer", "convert", "in", "-o", "out", *CM, "--scheduler", cluster.scheduler_address]
    started = subprocess.Popen([*call, "--quiet"], env=ENVIRONMENT)
    while len(list(archive.glob("out/*/*.bvh"))) < 3 and started.poll() is None:
        time.sleep(0.02)
    os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
    assert started.wait() == 0
    assert outputs(archive / "out") == outputs(archive / "serial")
    assert len(lines(archive / "out")) == COUNT


def test_a_worker_goes_on_while_its_last_answer_is_dealt_with(tmp_path: Path) -> None:
    items = [str(tmp_path / name) for name in "abc"]
    answers = workers.on_processes(leaves_a_file, items, str, 1)
    for _, after in pairwise(items):
        next(answers)
        latest = time.monotonic() + 20.0
        while not Path(after).exists():  # nothing more is asked for meanwhile
            assert time.monotonic() < latest
            time.sleep(0.01)
    assert [place for place, _ in answers] == [2]


def leaves_a_file(item: str, name: str) -> None:
    """As a trial."""
    Path(item).write_text(name, encoding="utf-8")


def test_machine_errors_of_workers_end_all() -> None:
    with pytest.raises(MachineError, match=r"^lacking$"):
        list(workers.tried_each(lacks, ["a", "b"], 2))


def lacks(item: str) -> str:
    """As work: the machine lacks what every item needs."""
    raise MachineError("lacking" if item else "")


def test_the_command_on_two_processes_prints_as_on_one(archive: Path) -> None:
    words = "convert in -o out --units cm --up y"
    one = process(words, archive)
    two = process(f"{words} --jobs 2", archive)
    assert one.returncode == two.returncode == 0
    assert one.stdout == two.stdout


def test_folders_are_measured_planted_and_retargeted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    walk = viewer.load("sample:walk")
    for name in ("a", "b"):
        viewer.save(walk, tmp_path / "in" / f"{name}.bvh")
    viewer.save(viewer.load("sample:two-link"), tmp_path / "in" / "c.json")
    meter = ran(capsys, "feet", "in", "--units", "cm", "--up", "y", "--json", "-q")
    assert meter.code == 1
    one, two, failed = meter.json
    assert one | {"file": ""} == two | {"file": ""}
    assert set(failed) == {"file", "error"}
    for command in (("feet", "in", "--plant", "-o", "out"), ("retarget", "in", "--to", "sample:biped", "-o", "out")):
        done = ran(capsys, *command, "--units", "cm", "--up", "y")
        assert (done.code, done.out.splitlines()[-1].split(" ")[:3]) == (1, ["2", "of", "3"])
        assert sorted(outputs(tmp_path / "out")) == ["a.bvh", "b.bvh"]
        again = ran(capsys, *command, "--units", "cm", "--up", "y", "--resume")
        assert again.out.splitlines()[-1].endswith("2 done before, 1 failed")


def test_the_rig_of_many_files_is_read_once_and_anew_when_it_has_changed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    walk, biped = viewer.load("sample:walk"), viewer.load("sample:biped")
    for name in ("a", "b", "c"):
        viewer.save(walk, tmp_path / "in" / f"{name}.bvh")
    read: list[str] = []

    def reading(file: str, **kinds: object) -> viewer.Character:
        read.append(file)
        return viewer.load(file, **kinds)  # type: ignore[arg-type]

    monkeypatch.setattr("viewer.cli.inputs.load", reading)
    for size in (1.0, 1.25):
        skeleton = replace(biped.skeleton, offsets=size * biped.skeleton.offsets)
        viewer.save(replace(biped, skeleton=skeleton), tmp_path / "rig.json")
        done = ran(capsys, "retarget", "in", "--to", "rig.json", "-o", "out", "--units", "cm", "--up", "y", "-q")
        assert done.code == 0
        assert (read.count("rig.json"), len(read)) == (1, 4)
        read.clear()
        made = viewer.load("out/c.bvh", units="m", up="y").skeleton
        places = [skeleton.index(name) for name in made.names[1:]]
        assert np.allclose(made.offsets[1:], skeleton.offsets[places], atol=1e-5)
