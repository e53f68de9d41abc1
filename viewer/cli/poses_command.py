"""``ikviewer poses``: the poses of a library."""

from __future__ import annotations

from pathlib import Path

from viewer.cli.job import Result
from viewer.cli.output import Json
from viewer.cli.picture_options import PosesOptions
from viewer.errors import InputError, ViewerError, shown
from viewer.opengl.pose_library import PoseLibrary


def run(options: PosesOptions) -> Result:
    """List the poses; exit code 1 if a file is refused."""
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
    return "a file" if Path(folder).exists() else "nothing"
