# shellcheck shell=bash
# Shared by deploy/try, deploy/check and deploy/install: what a machine needs, and a venv with edged.
# The caller has set -euo pipefail and calls start_log first.

tool=${0##*/}
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
running=
package_lists=old
log=/dev/null

say() { printf '%s\n' "$*"; }

fail() {
  # Where nobody can open the log afterwards, its end is shown.
  [[ ${CI:-} != true ]] || tail -n 40 "$log" >&2
  printf 'deploy/%s: %s\n' "$tool" "$*" >&2
  exit 1
}

# One readable line per step on the terminal; what the commands print goes to this file.
start_log() {
  local folder=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/edged
  mkdir -p "$folder"
  log=$folder/$tool.log
  : >"$log"
}

# In the background and in a process group of its own: bash answers ctrl-C at once while it waits,
# and stop_group ends the command with all that it started.
logged() {
  printf '\n$ %s\n' "$*" >>"$log"
  setsid "$@" >>"$log" 2>&1 </dev/null &
  running=$!
  local code=0
  wait "$running" || code=$?
  running=
  return "$code"
}

or_fail() {
  logged "${@:2}" || fail "$1 ($(tail -n 1 "$log")); see $log"
}

# stop_group PID: TERM, again every half second (a second one cuts the daemon's speech short), and
# KILL after five seconds. PID was started by `setsid ... &`; in its first instant it has no group of
# its own yet, so it is addressed too.
stop_group() {
  local pid=$1 tenths=0
  kill -TERM -- "-$pid" 2>/dev/null || kill -TERM "$pid" 2>/dev/null || return 0
  while ((++tenths < 50)) && kill -0 -- "-$pid" 2>/dev/null; do
    sleep 0.1
    ((tenths % 5)) || kill -TERM -- "-$pid" 2>/dev/null || true
  done
  kill -KILL -- "-$pid" 2>/dev/null || true
  wait "$pid" 2>/dev/null || true
}

require_supported_machine() {
  local arch
  command -v apt-get >/dev/null || fail "needs Debian 12 or 13 or Raspberry Pi OS (no apt-get here)"
  arch=$(dpkg --print-architecture)
  case $arch in
    amd64 | arm64) ;;
    *) fail "needs a 64-bit system (this one is $arch: onnxruntime has no 32-bit builds); install the 64-bit image" ;;
  esac
}

as_root() {
  if [[ $EUID -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Installs the packages that are missing; services that come with them are neither started nor
# enabled. In the foreground on purpose: a package manager must not be cut off in the middle.
need_packages() {
  local missing=() package
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  [[ $EUID -eq 0 ]] || command -v sudo >/dev/null ||
    fail "must install ${missing[*]}: run it as root, or install sudo"
  say "==> installing ${missing[*]}"
  printf '\n$ apt-get install %s\n' "${missing[*]}" >>"$log"
  # One root shell, so that the ban on starting services goes whatever happens.
  # shellcheck disable=SC2016  # $ban and $@ belong to that shell
  as_root env DEBIAN_FRONTEND=noninteractive bash -c '
    ban=/usr/sbin/policy-rc.d
    if [ ! -e "$ban" ]; then
      trap "rm -f $ban" EXIT
      trap "exit 130" INT TERM HUP
      printf "#!/bin/sh\nexit 101\n" >"$ban"
      chmod 755 "$ban"
    fi
    if [ "$1" = old ]; then apt-get update -q; fi
    shift
    apt-get install -y -q --no-install-recommends "$@"
  ' bash "$package_lists" "${missing[@]}" >>"$log" 2>&1 </dev/null || fail "could not install ${missing[*]}; see $log"
  package_lists=new
  for package in "${missing[@]}"; do
    if [[ $package == mosquitto ]] && command -v systemctl >/dev/null; then
      as_root systemctl disable mosquitto >>"$log" 2>&1 || true
      say "    (its system service is left off; to run it: systemctl enable --now mosquitto)"
    fi
  done
}

# need_python [CANDIDATE...] sets $python: 3.10 or newer with venv and the pip that comes with it.
need_python() {
  local candidate
  (($#)) || set -- python3 python3.13 python3.12 python3.11 python3.10 /usr/bin/python3
  for candidate in "$@"; do
    if usable_python "$candidate"; then
      python=$(command -v "$candidate")
      return
    fi
  done
  need_packages python3 python3-venv python3-dev
  python=/usr/bin/python3
  usable_python "$python" || fail "needs Python 3.10 or newer (found $("$python" --version 2>&1))"
}

usable_python() {
  "$1" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

# The C core is built from source: a compiler, and the headers of $python.
need_compiler() {
  command -v cc >/dev/null || need_packages gcc libc6-dev
  "$python" -c 'import os, sysconfig, sys; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))' ||
    need_packages python3-dev
}

# need_venv FOLDER EXTRAS: edged and its extras ('' or 'dev') from this source tree, editable.
# Does nothing when nothing has changed since it was last done.
need_venv() {
  local folder=$1 extras=$2 stamp
  stamp=$folder/.edged-${extras:-run}
  if [[ -f $stamp && $(<"$stamp") == "$(fingerprint)" ]] && "$folder/bin/python" -c 'import edged.audio._rt_core' 2>/dev/null; then
    return
  fi
  need_python
  need_compiler
  say "==> preparing Python in $folder (some minutes the first time)"
  if ! "$folder/bin/python" -m pip --version >/dev/null 2>&1; then
    or_fail "could not make a venv in $folder" "$python" -m venv --clear "$folder"
  fi
  or_fail "could not install edged in $folder" \
    "$folder/bin/python" -m pip install --no-input --disable-pip-version-check -e "$repo${extras:+[$extras]}"
  fingerprint | tee "$folder/.edged-run" >"$stamp"
}

# The newest glibc symbol that a library wants, as 2_NN in the name of a platform. Needs binutils.
glibc_of() {
  readelf --version-info --wide "$1" | grep -o 'GLIBC_2\.[0-9]*' | sort -uV | tail -n 1 | sed 's/GLIBC_2\./2_/'
}

# What an installation depends on: the declared dependencies, and the source of the C core.
fingerprint() {
  (cd "$repo" && pwd && cat pyproject.toml edged/audio/_rt/*.[ch]) | sha256sum
}

# need_voice PYTHON STORE NAME [AS...]: builds the voice into the store unless it is there.
need_voice() {
  local python=$1 store=$2 name=$3
  [[ -e $store/$name/current ]] || say "==> building the voice $name (once)"
  or_fail "could not build the voice $name" "${@:4}" "$python" -c '
import pathlib, sys
from edged.errors import EdgedError
from edged.voice.install import ensure_installed
try:
    ensure_installed(pathlib.Path(sys.argv[1]), sys.argv[2], print)
except EdgedError as error:
    sys.exit(str(error))
' "$store" "$name"
}
