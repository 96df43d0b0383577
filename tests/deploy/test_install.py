"""deploy/install staged into a folder: what is put where, that it may be repeated, and what is left.

The staged program begins as a venv that borrows the libraries of this one, so that only edged itself
is built and installed.
"""

import os
import stat
import subprocess
import sysconfig
import venv
from pathlib import Path

import pytest

from edged.config.load import load
from edged.config.model import Config

REPO = Path(__file__).parents[2]
INSTALL = REPO / "deploy/install"


def install(*args: str | Path, root: Path, cache: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"XDG_CACHE_HOME": str(cache), "CI": "true"}
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
    done = install(root=root, cache=cache)
    assert done.returncode == 0, done.stdout + done.stderr
    return root, cache, done.stdout


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_everything_has_its_place_and_rights(staged):
    root, _, said = staged
    assert "starts at the next boot" in said
    config = root / "etc/edged/edged.yaml"
    assert load(config) == Config(state_dir="/var/lib/edged")
    assert os.readlink(root / "usr/local/bin/edged") == "/opt/edged/bin/edged"
    assert mode(config) == "0o640"
    assert mode(config.with_name("edged.schema.json")) == "0o644"
    assert mode(root / "var/lib/edged") == "0o750"
    assert mode(root / "var/lib/edged/voices") == "0o2775"
    assert (root / "etc/systemd/system/edged.service").read_bytes() == (
        REPO / "systemd/edged.service"
    ).read_bytes()
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


def test_a_second_run_keeps_the_configuration(staged):
    root, cache, _ = staged
    config = root / "etc/edged/edged.yaml"
    config.write_text("node: hall\n")
    again = install(root=root, cache=cache)
    assert again.returncode == 0, again.stdout + again.stderr
    assert config.read_text() == "node: hall\n"
    assert "keeping" in again.stdout


def test_a_refused_configuration_is_named_in_one_line(staged):
    root, cache, _ = staged
    config = root / "etc/edged/edged.yaml"
    config.write_text("nood: hall\n")
    refused = install(root=root, cache=cache)
    assert refused.returncode == 1
    assert f"mend {config}" in refused.stderr
    assert "node" in refused.stderr
    assert config.read_text() == "nood: hall\n"


def test_uninstall_keeps_what_is_the_users_and_purge_does_not(staged):
    root, cache, _ = staged
    removed = install("--uninstall", root=root, cache=cache)
    assert removed.returncode == 0, removed.stderr
    assert not (root / "opt/edged").exists()
    assert not (root / "usr/local/bin/edged").is_symlink()
    assert not list((root / "etc/systemd/system").rglob("edged.service"))
    assert (root / "etc/edged/edged.yaml").exists()
    assert (root / "var/lib/edged/voices").exists()
    assert install("--uninstall", root=root, cache=cache).returncode == 0
    assert install("--uninstall", "--purge", root=root, cache=cache).returncode == 0
    assert not (root / "etc/edged").exists()
    assert not (root / "var/lib/edged").exists()
    assert "edged" not in (root / "etc/passwd").read_text()


@pytest.mark.parametrize("args", [["--frobnicate"], ["--purge"]])
def test_wrong_options_are_one_line(tmp_path, args):
    wrong = install(*args, root=tmp_path, cache=tmp_path)
    assert wrong.returncode == 1
    assert wrong.stderr.startswith("deploy/install: ")
    assert wrong.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


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
