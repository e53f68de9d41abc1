"""``ikviewer render`` and ``poses``: pictures and films without a screen, and the poses of a library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

from viewer.cli import inputs
from viewer.cli.goal_inputs import goals_of
from viewer.cli.job import Json, Result, UsageError, print_error, warn
from viewer.cli.many_files import Kind, one_or_each
from viewer.cli.options import PosesOptions, RenderOptions, usage_of
from viewer.errors import InputError, ViewerError, plural, shown
from viewer.formats import file_formats
from viewer.formats.video import write_png
from viewer.ik.contact import Contact
from viewer.ik.goals import Goal
from viewer.opengl.filming import Film, Filming, make_film
from viewer.opengl.pictures import check_camera, render
from viewer.opengl.pose_library import PoseLibrary
from viewer.progress import report
from viewer.skeleton import Character, Clip, Pose

_Drawn: TypeAlias = tuple[str, dict[str, Json], list[str]]
"""Reports of the files written, in words and for ``--json``; and warnings."""


def run_render(options: RenderOptions) -> Result | Iterator[Result]:
    """Draw, and write the picture or pictures; of many files each."""
    kind = Kind("drawing", "drawn", suffix=".png", check=lambda path: _checked(str(path), options))
    return one_or_each(kind, _render, options, options.file, options.output, options.spread)


def _checked(name: str, options: RenderOptions) -> Path:
    output = inputs.checked_output(name, file_formats.PICTURES)
    _check_usage(options, output)
    return output


def _render(options: RenderOptions) -> Result:
    output = _checked(options.output, options)
    character = inputs.load_clip(options.file, options.reading, options.subject.clip)
    pose = _pose(character, options)
    goals: tuple[Goal, ...] = ()
    contact: Contact | None = None
    if options.subject.goals is not None:
        goals, contact, _ = goals_of(options.subject.goals, character.skeleton)
    # What pictures and films have in common.
    how: dict[str, Any] = {
        "goals": goals, "contact": contact, "limits": options.subject.limits, "body": options.subject.body,
        "size": options.look.size, "camera": options.look.camera, "samples": options.look.samples,
    }  # fmt: skip
    write = _write_film if file_formats.is_film(output) else _write_picture
    words, document, warnings = write(output, character, pose, options, how)
    written: dict[str, Json] = {"file": options.file, "output": str(output), "bytes": inputs.file_size(output)}
    written |= document | {"warnings": [*inputs.warnings_of(character, options.file), *warnings]}
    return Result(notes=[f"wrote {output}: {words}"], document=written)


def _write_picture(
    output: Path, character: Character, pose: Pose | None, options: RenderOptions, how: dict[str, Any]
) -> _Drawn:
    frame = options.subject.frame
    picture = render(character, pose if frame is None else None, frame=frame, **how)
    write_png(picture, output)
    height, width = picture.shape[:2]
    return f"{width} x {height} pixels", {"pictures": 1, "width": width, "height": height}, []


def _pose(character: Character, options: RenderOptions) -> Pose | None:
    """The chosen pose; None for the default."""
    if options.subject.pose is not None:
        return inputs.named_pose(character.skeleton, options.subject.pose)
    if options.subject.frame is None:
        turned = character.clip is None and options.film.turntable
        still = turned or not file_formats.is_film(Path(options.output))
        return inputs.shown_pose(character, options.file) if still else None
    clip = inputs.motion_of(character, options.file)
    inputs.check_frames(clip, options.file, options.subject.frame)
    return clip.pose(options.subject.frame)


# --- moving pictures


def _check_usage(options: RenderOptions, path: Path) -> None:
    if not isinstance(options.look.camera, str):
        with usage_of("--camera"):
            check_camera(options.look.camera)
    what, moving = options.subject, options.film
    if not file_formats.is_film(path):
        given = {"frames": what.frames, "fps": moving.fps, "turntable": moving.turntable or None}
        for name, value in given.items():
            if value is not None:
                raise UsageError(
                    f"argument --{name}: {path} is one picture: expected .mp4, .gif or a numbered name such as "
                    f"{path.stem}_%04d.png"
                )
    still = "frame" if what.frame is not None else "pose" if what.pose is not None else None
    if file_formats.is_film(path) and still is not None and not moving.turntable:
        raise UsageError(f"argument --{still}: nothing moves in it: expected --turntable with it, or a .png")


def _write_film(
    path: Path, character: Character, pose: Pose | None, options: RenderOptions, how: dict[str, Any]
) -> _Drawn:
    clip, frames, fps = (
        None if pose is not None else _motion(character, options),
        options.subject.frames,
        options.film.fps,
    )
    if clip is not None and fps is None:
        fps = usual_rate(path, clip.frame_time * (1 if frames is None else frames.step))
    film = make_film(character, pose, frames=frames, fps=fps, turntable=options.film.turntable, **how)
    return write_film(film, path)


def write_film(film: Film, path: Path) -> _Drawn:
    """Draw and write a film that is made.

    Raises:
        MachineError: the machine cannot draw, or has no ffmpeg.
        OutputError: the file cannot be written; an old file stays as it was.
    """
    warnings = []
    if path.suffix.casefold() == ".gif" and film.fps > file_formats.GIF_FPS:
        warnings = [f"{path}: most programs show at most {file_formats.GIF_FPS:g} pictures a second of a GIF"]
        warn(warnings)
    width, height = film.size
    if path.suffix.casefold() == ".mp4":  # its blocks are 2 x 2
        width, height = width - width % 2, height - height % 2
    with Filming(film, path) as filming:
        while filming.step():
            report("drawing", min(filming.done, filming.total - 1), filming.total)
        report("drawing", filming.total, filming.total)
    words = f"{plural(filming.written, 'picture')} of {width} x {height}, {film.fps:.4g} a second, {film.seconds:.2f} s"
    return words, {
        "pictures": filming.written, "width": width, "height": height, "fps": film.fps, "seconds": film.seconds,
    }, warnings  # fmt: skip


def _motion(character: Character, options: RenderOptions) -> Clip | None:
    """The clip to play, after a check of the chosen frames; None for a turntable of a pose."""
    if not options.film.turntable and not character.clip:
        raise InputError(
            f"{options.file}: expected motion, found a skeleton without frames: --turntable turns it round"
        )
    frames = options.subject.frames
    if frames is not None:
        inputs.check_frames(inputs.motion_of(character, options.file), options.file, frames[0], frames[-1])
    return character.clip or None


def usual_rate(path: Path, frame_time: float) -> float | None:
    """Frames per second of a film, if none are asked for: the motion's, as far as players follow; None: every frame."""
    most = file_formats.USUAL_FPS.get(path.suffix.casefold())
    return None if most is None else file_formats.playable_fps(1.0 / frame_time, most)


# --- poses


def run_poses(options: PosesOptions) -> Result:
    """List the poses; exit code 1 if a file is refused."""
    if not Path(options.folder).is_dir():
        found = "a file" if Path(options.folder).exists() else "nothing"
        raise InputError(f"{options.folder}: expected a folder with poses, found {found}")
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
    for problem in problems:
        print_error(f"error: {problem}")
    document: Json = {"poses": rows, "problems": [*problems]}
    return Result(lines or ["no poses"], document=document, code=1 if problems else 0)
