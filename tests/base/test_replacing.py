"""Files that are replaced in one step, and the lock beside a file."""

import os
import subprocess
import sys
import threading

import pytest

from priory.base.errors import PrioryWarning
from priory.base.replacing import locked, replacing

posix = pytest.mark.skipif(os.name != "posix", reason="links and owners are those of POSIX")
root = pytest.mark.skipif(
    os.name != "posix" or os.geteuid() != 0, reason="only root gives files away"
)


def write(path, text):
    with replacing(path) as made, open(made, "w") as file:
        file.write(text)


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path):
    write(tmp_path / "a", "new")
    (tmp_path / "b").write_text("new")
    assert (tmp_path / "a").read_text() == "new"
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_failure_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replacing(path):
        1 / 0  # noqa: B018
    assert path.read_text() == "old" and names(tmp_path) == ["a"]


@posix
def test_rights_and_symbolic_links_stay(tmp_path):
    path, link = tmp_path / "a", tmp_path / "link"
    path.write_text("old")
    path.chmod(0o604)
    link.symlink_to(path)
    write(link, "new")
    assert link.is_symlink() and path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o604 and names(tmp_path) == ["a", "link"]


@root
def test_the_owner_stays(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 12345, 23456)
    write(path, "new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


@root
def test_an_owner_that_cannot_stay_is_told(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 12345, 23456)

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "chown", refused)
    with pytest.warns(PrioryWarning, match=r"belonged to user 12345, group 23456"):
        write(path, "new")
    assert path.read_text() == "new"


@posix
def test_hard_links_lead_to_the_new_file_or_are_told(tmp_path):
    path, other, far = tmp_path / "a", tmp_path / "b", tmp_path / "far"
    path.write_text("old")
    os.link(path, other)
    write(path, "new")
    assert other.read_text() == "new" and path.samefile(other)
    far.mkdir()
    os.link(path, far / "c")
    with pytest.warns(PrioryWarning, match=r"a has 1 more names in other folders \(hard links\)"):
        write(path, "newer")
    assert other.read_text() == "newer" and (far / "c").read_text() == "new"
    assert names(tmp_path) == ["a", "b", "far"]


@posix
def test_a_device_or_a_folder_is_not_replaced(tmp_path):
    for path in ("/dev/null", tmp_path):
        with pytest.raises(OSError, match="it is no regular file"):
            write(path, "new")


KILLED = """
import os, sys
from priory.base.replacing import locked, replacing
with locked(sys.argv[1]), replacing(sys.argv[1]) as made:
    open(made, "w").write("half")
    print("there", flush=True)
    os.kill(os.getpid(), 9) if sys.argv[2] == "die" else sys.stdin.read()
"""


def start(path, how):
    command = [sys.executable, "-c", KILLED, path, how]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


@posix
def test_what_a_killed_writer_left_is_removed_and_a_living_one_is_let_be(tmp_path):
    path = tmp_path / "a"
    with start(path, "die") as dead:
        dead.wait()
    assert any(name.endswith(".part") for name in names(tmp_path))
    assert ".a.lock" in names(tmp_path)
    write(path, "new")
    assert [name for name in names(tmp_path) if name.endswith(".part")] == []
    with locked(path):
        pass
    assert names(tmp_path) == ["a"]
    with start(path, "live") as alive:
        alive.stdout.readline()
        write(path, "newer")
        assert any(name.endswith(".part") for name in names(tmp_path))
        alive.communicate("")
    assert path.read_text() == "half" and names(tmp_path) == ["a"]


@posix
def test_another_process_waits_and_says_so_once(tmp_path):
    path, said = tmp_path / "a", []
    with start(path, "live") as other:
        other.stdout.readline()

        def let_go(text):
            said.append(text)
            threading.Timer(0.3, other.stdin.close).start()

        with locked(path, let_go):
            assert path.read_text() == "half"
    assert said == [f"waiting for process {other.pid}, which changes {path}"]


def test_one_thread_at_a_time(tmp_path):
    path, inside, most = tmp_path / "a", [], []

    def work():
        for _ in range(20):
            with locked(path), locked(path):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 80 and max(most) == 1 and names(tmp_path) == []


def test_a_folder_that_is_not_there_is_of_the_file_not_of_its_lock(tmp_path):
    with pytest.raises(FileNotFoundError) as found, locked(tmp_path / "none" / "a"):
        pass
    assert found.value.filename == str(tmp_path / "none" / "a")
