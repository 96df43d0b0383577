"""`edged voice list | show | verify`: what is in the store, and what could be."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from typing import Any

from edged.config.load import find, load
from edged.config.model import Config
from edged.errors import VoiceError
from edged.voice import ladder, store
from edged.voice.catalog import CatalogEntry, catalog
from edged.voice.manifest import Manifest, check_sizes, verify
from edged.voices import state_dir, store_dir

MB = 1e6


def list_voices(args: argparse.Namespace) -> int:
    """A line each, installed ones first; 0."""
    config = load(find(args.config))
    rows = [*_installed(config), *(_available(e) for e in _not_installed(config))]
    if args.json:
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return 0
    for row in rows:
        print(_line(row))
        if row["licence"]["note"]:
            print(f"    {row['licence']['note']}")
    return 0


def _line(row: dict[str, Any]) -> str:
    mark = "*" if row["configured"] else " "
    size = f"{row['size_mb']:.0f} MB" if row["size_mb"] is not None else "?"
    install = f"not installed (edged voice install {row['name']})"
    levels = [f"{name} ({row['distance_db'][name]:.1f} dB)" for name in row["levels"]]
    state = row["fault"] or ", ".join(levels) or install
    return f"{mark} {row['name']:<14} {row['language']:<8} {size:>7}  {row['licence']['weights']:<24} {state}"


def _installed(config: Config) -> list[dict[str, Any]]:
    rows = []
    folder = store_dir(config)
    for name in store.installed(folder):
        row = {"name": name, "installed": True, "configured": name == config.voice.name, "fault": None}
        try:
            manifest = store.current(folder, name)
            check_sizes(manifest)
            rows.append({**row, **_described(manifest, config)})
        except VoiceError as error:
            nothing = {"weights": "?", "note": ""}
            rows.append({**row, "language": "?", "size_mb": None, "licence": nothing, "levels": []})
            rows[-1]["fault"] = str(error)
    return rows


def _described(manifest: Manifest, config: Config) -> dict[str, Any]:
    measured = ladder.read_rows(ladder.measured_file(state_dir(config), manifest))
    return {
        "version": manifest.version,
        "language": manifest.language,
        "engine": manifest.engine,
        "sample_rate_hz": manifest.sample_rate_hz,
        "size_mb": round(manifest.size_bytes / MB, 1),
        "licence": asdict(manifest.licence),
        "source": {
            "package": manifest.source_package,
            "version": manifest.source_version,
            "url": manifest.source_url,
            "files": dict(manifest.source_files),
        },
        "levels": list(manifest.levels),
        "distance_db": {n: float(o.get("distance_db", 0.0)) for n, o in manifest.options["levels"].items()},
        "speakers": list(manifest.speakers),
        "ladder": [asdict(row) for row in ladder.ladder(measured)],
    }


def _not_installed(config: Config) -> list[CatalogEntry]:
    there = store.installed(store_dir(config))
    return [entry for entry in catalog().values() if entry.name not in there]


def _available(entry: CatalogEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "installed": False,
        "configured": False,
        "fault": None,
        "language": entry.language,
        "engine": entry.engine,
        "sample_rate_hz": entry.sample_rate_hz,
        "size_mb": float(entry.size_mb),
        "licence": asdict(entry.licence),
        "source": {"package": entry.package, "version": entry.version, "url": entry.url},
        "levels": [],
    }


def show(args: argparse.Namespace) -> int:
    """Everything in the manifest but its file list, and the ladder; 0. Raises VoiceError."""
    config = load(find(args.config))
    manifest = store.current(store_dir(config), args.name)
    about = _described(manifest, config)
    licence, source = about["licence"], about["source"]
    print(f"{manifest.name}, version {manifest.version}, in {manifest.folder}")
    print(f"language   {manifest.language}, {manifest.sample_rate_hz} Hz, engine {manifest.engine}")
    print(f"size       {about['size_mb']:.1f} MB in {len(manifest.files)} files")
    print(f"licence    weights: {licence['weights']}; package: {licence['package']}")
    print(f"           training data: {licence['training_data']}")
    if licence["note"]:
        print(f"           note: {licence['note']}")
    print(f"source     {source['package']} {source['version']} {source['url']}".rstrip())
    for file, sha256 in source["files"].items():
        print(f"           sha256 {sha256[:16]}… {file}")
    print(f"levels     {', '.join(manifest.levels)}")
    if manifest.speakers:
        shown = ", ".join(manifest.speakers[:8]) + (", …" if len(manifest.speakers) > 8 else "")
        print(f"speakers   {len(manifest.speakers)}: {shown}")
    rows = ladder.read_rows(ladder.measured_file(state_dir(config), manifest))
    if rows:
        print_ladder(manifest, rows, config.voice.threads)
    else:
        print(f"measured   no (edged voice measure {manifest.name})")
    return 0


def print_ladder(manifest: Manifest, rows: tuple[ladder.Row, ...], threads: int) -> None:
    """What is worth using, the cheapest first; what is taken for so many threads at most is marked."""
    chosen = ladder.best([row for row in rows if row.threads <= threads], ladder.natural_db(manifest))
    chars = "/".join(map(str, ladder.TEXT_CHARS))
    print(
        f"  level   threads  chunks          first audio, ms ({chars})    RTF   runs dry at  private MB  dB"
    )
    for row in ladder.ladder(rows):
        mark = "*" if row == chosen else " "
        chunks = ",".join(map(str, row.chunks))
        first = " / ".join(f"{ms:.0f}" for ms in row.first_audio_ms)
        print(
            f"{mark} {row.level:<7} {row.threads:>7}  {chunks:<15} {first:<35} {row.rtf:.4f} "
            f"{row.tolerance:>9.1f} x  {row.private_dirty_mb:>9.0f}  {row.distance_db:.2f}"
        )


def verify_voices(args: argparse.Namespace) -> int:
    """Each voice on a line; 0 when all are whole, else 1."""
    folder = store_dir(load(find(args.config)))
    failed = 0
    for name in args.names or store.installed(folder):
        try:
            manifest = store.current(folder, name)
            verify(manifest)
        except VoiceError as error:
            failed += 1
            print(f"{name}: {error}", file=sys.stderr)
        else:
            print(f"{name}: {manifest.version}, {len(manifest.files)} files, checksums right")
    return 1 if failed else 0
