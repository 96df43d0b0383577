"""deploy/install staged into a folder: what is put where, that it may be repeated, and what is left.

The staged program begins as a venv that borrows the libraries of this one, so that only edged itself
is built and installed.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sysconfig
import venv
from dataclasses import replace
from pathlib import Path

import pytest

from edged.config.load import load

REPO = Path(__file__).parents[2]
INSTALL = REPO / "deploy/install"


def install(*args: str | Path, root: Path, cache: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "CI": "true"} | more
    return subprocess.run(
        [str(INSTALL), *map(str, args), "--root", str(root)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )


@pytest.fixture(scope="module")
def staged(tmp_path_factory):
    root, cache = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("cache")
    venv.create(root / "opt/edged", with_pip=False)
    own = next((root / "opt/edged/lib").glob("python3*/site-packages"))
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    done = install("--board", "rpi4", root=root, cache=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.rmtree(root / "opt/edged.previous")  # the venv that was lent, which has no edged
    return root, cache, done.stdout


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_everything_has_its_place_and_rights(staged):
    root, _, said = staged
    assert "starts at the next boot" in said
    config = root / "etc/edged/edged.yaml"
    assert load(config) == replace(load(REPO / "configs/rpi4.yaml"), state_dir="/var/lib/edged")
    assert os.readlink(root / "usr/local/bin/edged") == "/opt/edged/bin/edged"
    assert mode(config) == "0o640"
    assert mode(config.with_name("edged.schema.json")) == "0o644"
    assert mode(root / "var/lib/edged") == "0o750"
    assert mode(root / "var/lib/edged/voices") == "0o2775"
    for unit in ("edged.service", "edged@.service"):
        assert (root / "etc/systemd/system" / unit).read_bytes() == (REPO / "systemd" / unit).read_bytes()
        limit = root / f"etc/systemd/system/{unit}.d/10-board.conf"
        assert limit.read_bytes() == (REPO / "systemd/boards/rpi4.conf").read_bytes()
    wanted = root / "etc/systemd/system/multi-user.target.wants/edged.service"
    assert os.readlink(wanted) == "/etc/systemd/system/edged.service"


def test_the_user_is_in_group_audio_and_owns_the_state(staged):
    root, _, _ = staged
    users = {line.split(":")[0]: line.split(":") for line in (root / "etc/passwd").read_text().splitlines()}
    groups = {line.split(":")[0]: line.split(":") for line in (root / "etc/group").read_text().splitlines()}
    assert users["edged"][6].endswith("nologin")
    assert groups["audio"][3] == "edged"
    if os.geteuid() == 0:
        assert (root / "var/lib/edged/voices").stat().st_uid == int(users["edged"][2])
        assert (root / "etc/edged/edged.yaml").stat().st_gid == int(groups["edged"][2])
        assert (root / "etc/edged/edged.yaml").stat().st_uid == 0


def test_the_staged_program_knows_its_later_place(staged):
    root, _, _ = staged
    assert (root / "opt/edged/bin/edged").read_text().startswith("#!/opt/edged/bin/python")
    assert str(root) not in (root / "opt/edged/pyvenv.cfg").read_text()
    assert list((root / "opt/edged/lib").glob("python3*/site-packages/edged/audio/_rt_core*.so"))


def test_upgrade_and_rollback_keep_configuration_and_voices(staged):
    root, cache, _ = staged
    config = root / "etc/edged/edged.yaml"
    config.write_text("node: hall\n")
    voice = root / "var/lib/edged/voices/mine/current"
    voice.parent.mkdir()
    voice.write_text("a voice")
    program, previous = root / "opt/edged", root / "opt/edged.previous"
    assert not previous.exists()
    (program / "old").touch()
    (program / "share/systemd/edged.service").write_text("# of the old program\n")

    again = install(root=root, cache=cache)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "keeping" in again.stdout
    assert (previous / "old").exists()
    assert (previous / "bin/edged").read_text().startswith("#!/opt/edged/bin/python")
    assert (root / "etc/systemd/system/edged.service").read_bytes() == (
        REPO / "systemd/edged.service"
    ).read_bytes()

    (program / "new").touch()
    back = install("--rollback", root=root, cache=cache)
    assert back.returncode == 0, back.stdout + back.stderr
    assert (program / "old").exists()
    assert not (program / "new").exists()
    assert (previous / "new").exists()
    assert (root / "etc/systemd/system/edged.service").read_text() == "# of the old program\n"
    assert config.read_text() == "node: hall\n"
    assert voice.read_text() == "a voice"
    assert not list((root / "opt").glob("edged.[!p]*"))
    assert install("--rollback", root=root, cache=cache).returncode == 0
    assert (program / "new").exists()


def test_an_upgrade_that_fails_changes_nothing(staged):
    root, cache, _ = staged
    program = root / "opt/edged"
    before = (program / "bin/edged").stat().st_ino, sorted(p.name for p in (root / "opt").iterdir())
    failed = install(root=root, cache=cache, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(cache))
    assert failed.returncode == 1
    assert "deploy/install: could not install the program" in failed.stderr
    assert before == (
        (program / "bin/edged").stat().st_ino,
        sorted(p.name for p in (root / "opt").iterdir()),
    )


def test_a_refused_configuration_is_named_in_one_line(staged):
    root, cache, _ = staged
    config = root / "etc/edged/edged.yaml"
    config.write_text("nood: hall\n")
    program = (root / "opt/edged").stat().st_ino
    for args in ((), ("--rollback",)):
        refused = install(*args, root=root, cache=cache)
        assert refused.returncode == 1
        assert f"mend {config}" in refused.stderr
        assert "node" in refused.stderr
        assert config.read_text() == "nood: hall\n"
        assert (root / "opt/edged").stat().st_ino == program, "the program that runs is left alone"


def test_uninstall_keeps_what_is_the_users_and_purge_does_not(staged):
    root, cache, _ = staged
    removed = install("--uninstall", root=root, cache=cache)
    assert removed.returncode == 0, removed.stderr
    assert not list((root / "opt").iterdir())
    assert not (root / "usr/local/bin/edged").is_symlink()
    assert not list((root / "etc/systemd/system").rglob("edged*"))
    assert (root / "etc/edged/edged.yaml").exists()
    assert (root / "var/lib/edged/voices").exists()
    assert install("--uninstall", root=root, cache=cache).returncode == 0
    assert install("--uninstall", "--purge", root=root, cache=cache).returncode == 0
    assert not (root / "etc/edged").exists()
    assert not (root / "var/lib/edged").exists()
    assert "edged" not in (root / "etc/passwd").read_text()


@pytest.mark.parametrize(
    "args",
    [["--frobnicate"], ["--purge"], ["--board", "toaster"], ["--rollback"], ["--rollback", "--uninstall"]],
)
def test_wrong_options_are_one_line(tmp_path, args):
    root = tmp_path / "root"
    root.mkdir()
    wrong = install(*args, root=root, cache=tmp_path, CI="")
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("deploy/install: ")
    assert wrong.stderr.count("\n") == 1
    assert not list(root.iterdir())


def test_nothing_is_installed_on_a_32_bit_system(tmp_path):
    tools = tmp_path / "tools"
    tools.mkdir()
    dpkg = tools / "dpkg"
    dpkg.write_text("#!/bin/sh\necho armhf\n")
    dpkg.chmod(0o755)
    root = tmp_path / "root"
    root.mkdir()
    refused = subprocess.run(
        [str(INSTALL), "--root", str(root)],
        env=os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert refused.returncode == 1
    assert "64-bit" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not list(root.iterdir())


def bundle(folder: Path, content: str) -> Path:
    """An unpacked bundle with one file in place of the wheels; its checksum is that of `content`."""
    shutil.copytree(REPO / "deploy", folder / "deploy")
    wheel = folder / f"wheels/edged-0-cp310-abi3-manylinux_2_17_{os.uname().machine}.whl"
    wheel.parent.mkdir()
    wheel.write_text("as packed")
    digest = hashlib.sha256(content.encode()).hexdigest()
    (folder / "SHA256SUMS").write_text(f"{digest}  wheels/{wheel.name}\n")
    return folder / "deploy/install"


@pytest.mark.parametrize(
    ("content", "said"), [("as sent", "the bundle is damaged"), ("as packed", "no wheels that fit")]
)
def test_a_bundle_that_is_damaged_or_does_not_fit_is_one_line(tmp_path, content, said):
    root = tmp_path / "root"
    root.mkdir()
    refused = subprocess.run(
        [str(bundle(tmp_path / "bundle", content)), "--root", str(root)],
        env=os.environ | {"XDG_CACHE_HOME": str(tmp_path), "CI": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert refused.returncode == 1
    assert said in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert not list(root.glob("opt/*"))
