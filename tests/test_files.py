"""Reading cannot hang and writing is whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import sys
from pathlib import Path
from typing import BinaryIO

import pytest
from inside.formats import decode_utf8, line_and_column, read_bytes, read_text, write_whole

import viewer
from viewer.errors import FormatError, InputError, OutputError

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX files")


def test_reads_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_whole(path, "Hüfte\n")
    assert read_text(path, "a.txt") == "Hüfte\n"
    assert read_bytes(path, "a.txt") == "Hüfte\n".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.json", "none.json: no such file or folder"),
        ("folder", "folder: expected a file, found a folder"),
        ("a.txt/b", "a.txt/b: a part of the path is not a folder"),
        ("x" * 300, f"{'x' * 300}: the name is too long"),
        ("a\0b", '"a\\x00b": not a file name: embedded null byte'),
    ],
)
@posix
def test_refuses_what_is_no_file(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.txt").touch()
    with pytest.raises(InputError) as caught:
        read_bytes(tmp_path / name, name)
    assert str(caught.value) == message


@posix
def test_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="pipe: expected a file, found a pipe"):
        read_bytes(tmp_path / "pipe", "pipe")


@posix
def test_a_device_is_refused() -> None:
    with pytest.raises(InputError, match="expected a file, found a device"):
        read_bytes(Path("/dev/zero"), "/dev/zero")


def test_a_file_too_large_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(b"12345678901")
    assert len(read_bytes(path, "big", 11)) == 11
    with pytest.raises(InputError, match=r"^big: expected at most 10 bytes, found 11$"):
        read_bytes(path, "big", 10)


def test_a_byte_order_mark_is_no_text() -> None:
    assert decode_utf8(b"\xef\xbb\xbf{}", "f") == "{}"


@pytest.mark.parametrize(
    ("data", "line", "column", "found"),
    [
        (b"ab\n\xe9", 2, 1, "the byte 0xE9"),
        (b"\xef\xbb\xbfab\r\nc\xc3\xa9d\xff", 2, 4, "the byte 0xFF"),
        (b"a\rb\rc\xc0\x80", 3, 2, "the byte 0xC0"),
        ("{}".encode("utf-16"), 1, 1, "UTF-16"),
    ],
)
def test_other_encodings_are_located(data: bytes, line: int, column: int, found: str) -> None:
    with pytest.raises(FormatError) as caught:
        decode_utf8(data, "f.json")
    message = f"f.json, line {line}, column {column}: expected text in UTF-8, found {found} (not UTF-8)"
    assert str(caught.value) == message


def test_lines_and_columns_of_every_line_ending() -> None:
    text = "a\nbc\r\nd\re"
    places = [line_and_column(text, place) for place in (0, 2, 3, 6, 8)]
    assert places == [(1, 1), (2, 1), (2, 2), (3, 1), (4, 1)]


@posix
def test_permissions_are_the_users_or_those_of_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    old = os.umask(0o027)
    try:
        write_whole(path, b"1")
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    write_whole(path, b"2")
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert path.read_bytes() == b"2"


@posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("new")
    write_whole(tmp_path / "link", b"new")
    write_whole(tmp_path / "dangling", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"
    assert (tmp_path / "new").read_bytes() == b"x"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), InputError("no"), OSError(errno.ENOSPC, "x"), RuntimeError()])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def fail(file: BinaryIO) -> None:
        file.write(b"half")
        raise error

    expected = OutputError if isinstance(error, OSError) else type(error)
    with pytest.raises(expected):
        write_whole(path, fail)
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_is_said(tmp_path: Path) -> None:
    def fail(file: BinaryIO) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", file.name)

    with pytest.raises(OutputError) as caught:
        write_whole(tmp_path / "a", fail)
    assert str(caught.value) == f"{tmp_path / 'a'}: cannot be written: the disk is full"


def test_no_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=r"cannot be written: its folder does not exist$"):
        write_whole(tmp_path / "none" / "a", b"")


@posix
def test_folders_devices_and_read_only_files_are_left_alone(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be written: expected a file, found a folder"):
        write_whole(tmp_path, b"")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="expected a file, found a pipe"):
        write_whole(tmp_path / "pipe", b"")
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(OutputError, match="cannot be written: the file is read-only"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OutputError, match="the links lead in a circle"):
        write_whole(tmp_path / "loop", b"")


@posix
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may do everything")
def test_no_permission_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    path.chmod(0)
    with pytest.raises(InputError, match="a: no permission"):
        read_bytes(path, "a")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot be written: no permission"):
            write_whole(tmp_path / "b", b"x")
    finally:
        tmp_path.chmod(0o700)


def test_text_that_utf8_cannot_hold_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="surrogates not allowed"):
        write_whole(tmp_path / "a", "\ud800")
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_file_whose_name_is_not_utf8_is_read(tmp_path: Path) -> None:
    file = os.fsencode(tmp_path) + b"/odd\xff.json"
    Path(os.fsdecode(file)).write_text('{"joints": [{"name": "a"}]}')
    assert viewer.load(os.fsdecode(file)).skeleton.name == "odd?"
