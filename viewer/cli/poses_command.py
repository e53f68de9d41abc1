"""``ikviewer poses``: the poses of a library."""

from __future__ import annotations

from viewer.cli import job
from viewer.cli import options as shared
from viewer.cli.job import FILES, Result, argument, flag, option
from viewer.cli.output import Json
from viewer.errors import shown

EXAMPLES = """examples:
  ikviewer poses poses
  ikviewer poses poses --find "left hand"
  ikviewer poses poses --pictures
  ikviewer view hero.bvh --pose poses/Crouch.json

A library is a folder of pose files, such as `poses` beside a rig; the window keeps poses there."""


class Options(job.Options):
    """Options of ``ikviewer poses``."""

    folder: str = argument("FOLDER", "the folder", completes=FILES)
    find: str = option("TEXT", "only poses with every word of the text in their name or tags", default="")
    pictures: bool = flag("draw the pictures (PNG, 128 x 128) that are missing or older than their pose")
    json: bool = shared.json_flag()


def run(options: Options) -> Result:
    """List the poses; exit code 1 if a file is refused."""
    from pathlib import Path

    from viewer.errors import InputError, ViewerError
    from viewer.opengl.pose_library import PoseLibrary

    if not Path(options.folder).is_dir():
        raise InputError(f"{options.folder}: expected a folder with poses, found {_found(options.folder)}")
    library = PoseLibrary(options.folder)
    poses = library.find(options.find)
    problems = list(library.problems)
    for pose in poses if options.pictures else ():
        try:
            library.picture(pose.name)
        except ViewerError as error:
            problems.append(str(error))
    rows: list[Json] = [
        {"name": one.name, "file": str(one.path), "skeleton": one.skeleton, "joints": one.joints, "tags": [*one.tags]}
        for one in poses
    ]
    width = max((len(shown(one.name)) for one in poses), default=0)
    lines = [
        f"{shown(one.name):<{width}}  {one.joints:>4} joints"
        + (f" of {shown(one.skeleton)}" if one.skeleton else "")
        + (f"  [{', '.join(map(shown, one.tags))}]" if one.tags else "")
        for one in poses
    ]
    document: Json = {"poses": rows, "problems": [*problems]}
    return Result([*(lines or ["no poses"]), *problems], document=document, code=1 if problems else 0)


def _found(folder: str) -> str:
    from pathlib import Path

    return "a file" if Path(folder).exists() else "nothing"
