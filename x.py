#!/usr/bin/env python3
"""Set up this checkout and use it; needs nothing but Python 3.11 or newer.

  python3 x.py run [FILE] [options]   show a skeleton or motion file (default: the bundled biped)
  python3 x.py test [options]         run the tests; the options go to pytest
  python3 x.py gates                  run what else must pass: style, types, import contract, wheel

The first call makes .venv beside this script (with uv if it is there, else with venv and pip) and installs the
project into it; later calls only compare a stamp. On Debian and Ubuntu, system libraries that are missing are
installed by name where that needs no password; elsewhere the line to run is printed.
"""

# Old Pythons must get as far as the version check in `main`: no syntax newer than 3.8 in this file.
from __future__ import annotations

import ctypes.util
import hashlib
import importlib.util
import os
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "x.py-stamp"
MAX_WORKERS = 8  # more test processes than this cost more memory than they save time
DEFAULT_FILE = "sample:biped"
RUN_COMMAND = "view"  # the command of ikviewer that `run` shows FILE with

# Traces in pip's and uv's output of a package that had to be compiled and could not be.
COMPILER_FAILED = re.compile(r"(gcc|g\+\+|clang|c\+\+|\bcc)'|Visual C\+\+|Python\.h: No such file")
COMPILER_CURE = """
No ready-made wheel exists for this machine; compiling needs a C compiler and Python's headers:
  Debian, Ubuntu: apt-get install build-essential python3-dev
  macOS: xcode-select --install        Windows: the Visual Studio Build Tools"""

# Each process of the tests would wait for the kernels, idle; without numba this fails, and there are none.
COMPILE = """
from viewer.ik.compiled.numba_engine import in_cache
from viewer.ik.backends import compile_all
in_cache() or compile_all()
"""

# Programs of others that read what we write, for the tests; named as npm has them.
READERS = ["gltf-validator@2.0.0-dev.3.10", "three@0.187"]


class SetupError(Exception):
    """The environment cannot be made; the message says what is missing."""


def say(message: str) -> None:
    """Report progress on stderr, so that stdout stays the job's own."""
    print(f"x.py: {message}", file=sys.stderr, flush=True)


def run_quietly(command: list[str]) -> tuple[bool, str]:
    """Run a step of the set-up from the root; returns whether it succeeded, and what it printed."""
    done = subprocess.run(
        command, cwd=ROOT, stdin=DEVNULL, stdout=PIPE, stderr=STDOUT, text=True, errors="replace", check=False
    )
    return done.returncode == 0, done.stdout


def run_job(command: list[str], folder: Path | None = None) -> int:
    """Run the job itself in this terminal; returns its exit code, 128 + N for death by signal N."""
    with subprocess.Popen(command, cwd=folder) as child:
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the job's to answer
        code = child.wait()
        signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code


def missing_packages(extra: str, uv: str | None) -> list[str]:
    """Debian's names of the system packages that are needed and not there."""
    found: dict[str, object] = {
        "libgl1": ctypes.util.find_library("GL"),
        "libegl1": ctypes.util.find_library("EGL"),
        "python3-venv": uv or importlib.util.find_spec("ensurepip"),
    }
    if extra == "test":  # the window's tests click in a window on a virtual screen
        found["xvfb"] = shutil.which("Xvfb")
        found["xdotool"] = shutil.which("xdotool")
        if os.environ.get("CI"):  # elsewhere the tests that ask node are skipped without it: npm is large
            found["npm"] = shutil.which("npm")
    return [name for name, there in found.items() if not there]


def root_prefix() -> list[str] | None:
    """What to put before a command to run it as root without a password; None where that cannot be."""
    if os.geteuid() == 0:
        return []
    if shutil.which("sudo") and run_quietly(["sudo", "-n", "true"])[0]:
        return ["sudo", "-n"]
    return None


def install_packages(packages: list[str]) -> bool:
    """Install Debian packages if this user may; returns whether they are installed now."""
    prefix = root_prefix()
    if prefix is None:
        return False
    say(f"installing {' '.join(packages)}")
    apt = [*prefix, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=60"]
    run_quietly([*apt, "update"])  # a stale or half-updated list may still serve: the next line decides
    installed, output = run_quietly([*apt, "install", "-y", "--no-install-recommends", *packages])
    if not installed:
        say(f"apt-get failed: {last_lines(output, 3)}")
    return installed


def see_to_packages(extra: str, uv: str | None, *, may_install: bool) -> None:
    """Install the missing system packages, or print the line that does; never fatal: the core needs none."""
    missing = missing_packages(extra, uv) if sys.platform.startswith("linux") else []
    if not missing:
        return
    if not shutil.which("apt-get"):
        say(f"missing: what Debian calls {' '.join(missing)}; install your system's packages for it")
    elif not (may_install and install_packages(missing)):
        say(f"missing: {' '.join(missing)}. Run: sudo apt-get install -y {' '.join(missing)}")


def venv_python(folder: Path) -> Path:
    """The interpreter of a virtual environment."""
    return folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def stamp(extra: str) -> str:
    """What a finished environment was made from; the first line tells a moved or copied checkout."""
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    return f"{ROOT}\n{sys.implementation.cache_tag}\n{project}\n{extra}\n"


def find_uv() -> str | None:
    """The path of a uv that works, or None."""
    uv = shutil.which("uv")
    return uv if uv and run_quietly([uv, "--version"])[0] else None


def last_lines(output: str, count: int = 25) -> str:
    """The end of a program's output, where it says why it failed."""
    return "\n".join(output.strip().splitlines()[-count:])


def is_usable(python: Path, uv: str | None) -> bool:
    """Whether an environment is whole, of this Python's version, and can be installed into."""
    probe = "import sys; print(sys.implementation.cache_tag)" + ("" if uv else "; import pip")
    worked, output = run_quietly([str(python), "-c", probe]) if python.exists() else (False, "")
    return worked and output.strip() == sys.implementation.cache_tag


def make_environment(folder: Path, uv: str | None) -> None:
    """Make an empty virtual environment in place of whatever is there."""
    if Path(sys.prefix) == folder:
        raise SetupError(f"{folder} must be made again: run x.py with another Python than the one in it")
    shutil.rmtree(folder, ignore_errors=True)
    if not uv and not importlib.util.find_spec("ensurepip"):
        raise SetupError(
            "this Python cannot make virtual environments (its ensurepip is missing).\n"
            "  Debian, Ubuntu: apt-get install python3-venv\n  elsewhere: install uv, or Python from python.org"
        )
    command = [uv, "venv", "--quiet", "--python", sys.executable] if uv else [sys.executable, "-m", "venv"]
    made, output = run_quietly([*command, str(folder)])
    if not made:
        raise SetupError(f"could not make {folder}:\n{last_lines(output)}")


def install(python: Path, what: list[str], uv: str | None) -> None:
    """Install into a virtual environment."""
    with_pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check"]
    command = [uv, "pip", "install", "--python", str(python)] if uv else with_pip
    installed, output = run_quietly([*command, *what])
    if not installed:
        cure = COMPILER_CURE if COMPILER_FAILED.search(output) else ""
        raise SetupError(f"could not install {' '.join(what)}:\n{last_lines(output)}{cure}")


def environment(extra: str = "") -> Path:
    """See to .venv with the project and one of its extras; returns its interpreter."""
    python = venv_python(VENV)
    found = STAMP.read_text(encoding="utf-8") if STAMP.is_file() else ""
    if python.exists() and found in {stamp(extra), stamp("test")}:
        see_to_packages(extra, "uv", may_install=False)
        return python
    if STAMP.is_file():
        STAMP.unlink()  # from here to the end the environment is half-made
    uv = find_uv()
    see_to_packages(extra, uv, may_install=True)
    moved = bool(found) and not found.startswith(f"{ROOT}\n")
    if moved or not is_usable(python, uv):
        make_environment(VENV, uv)
    say(f"installing the project into .venv with {'uv' if uv else 'pip'}; the first time takes a minute or two")
    install(python, ["-e", f".[{extra}]" if extra else "."], uv)
    STAMP.write_text(stamp(extra), encoding="utf-8")
    return python


def see_to_readers() -> None:
    """Install other programs' readers where npm is; never fatal: the tests that ask them say that they are skipped."""
    folder, npm = VENV / "node", shutil.which("npm")
    if npm is None or (folder / "node_modules" / "three").is_dir():
        return
    say(f"installing {' '.join(READERS)} into .venv")
    folder.mkdir(parents=True, exist_ok=True)
    done, output = run_quietly([npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *READERS])
    if not done:
        say(f"npm failed: {last_lines(output, 3)}")


def run(arguments: list[str]) -> int:
    """Show a file; without one, the bundled biped."""
    python = environment()
    if not arguments or arguments[0].startswith("-"):
        arguments = [DEFAULT_FILE, *arguments]
    # -P: a folder called `viewer` where the user stands must not be taken for the package.
    return run_job([str(python), "-P", "-m", "viewer", RUN_COMMAND, *arguments])


def test(arguments: list[str]) -> int:
    """Run the tests in parallel; options given by the user come last, so they win."""
    for path in (argument.partition("::")[0] for argument in arguments):
        if path.endswith(".py") and not (ROOT / path).exists():  # parallel pytest would end without a word
            raise SetupError(f"test: expected a file of tests, found none at {path}")
    python = environment("test")
    see_to_readers()
    workers = min(os.cpu_count() or 1, MAX_WORKERS)
    options = ["-n", str(workers), "--dist", "loadfile"]
    # The tests start hundreds of processes: without bytecode each compiles the program again. Git ignores the folders.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compiling = [str(python), "-c", COMPILE]
    with subprocess.Popen(compiling, cwd=ROOT, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL) as other:
        code = run_job([str(python), "-m", "pytest", *options, *arguments], ROOT)
        other.terminate()
    return code


def gates(arguments: list[str]) -> int:
    """Run every check that is no test, side by side; all of them, even when one fails."""
    if arguments:
        raise SetupError(f"gates takes no arguments, found {' '.join(arguments)}")
    python = environment("test")
    steps = {
        "style": [str(python), "-m", "ruff", "check", "."],
        "format": [str(python), "-m", "ruff", "format", "--check", "."],
        "types": [str(python), "-m", "mypy"],
        "import contract": [str(python.with_name("lint-imports")), "--no-logo"],
        "wheel": [str(python), ".ci/wheel_test.py"],
    }
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        checks = {name: pool.submit(run_quietly, command) for name, command in steps.items()}
        failed = []
        for name, check in checks.items():
            passed, output = check.result()
            say(f"gate: {name}")
            print(output, end="", flush=True)
            if not passed:
                failed.append(name)
    say(f"gates failed: {', '.join(failed)}" if failed else "all gates passed")
    return 1 if failed else 0


def main(arguments: list[str]) -> int:
    """Run one command; returns the exit code."""
    if sys.version_info[:2] < OLDEST_PYTHON:
        say(f"Python 3.11 or newer is needed; this is {sys.version.split()[0]} ({sys.executable})")
        return 1
    commands = {"run": run, "test": test, "gates": gates}
    if not arguments or arguments[0] in {"-h", "--help"}:
        print(__doc__)
        return 0
    if arguments[0] not in commands:
        say(f'no command "{arguments[0]}"; there is {", ".join(commands)}')
        return 2
    try:
        return commands[arguments[0]](arguments[1:])
    except SetupError as problem:
        say(str(problem))
    except KeyboardInterrupt:
        say("stopped")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
