#!/usr/bin/python3
"""pgxn.py ARCHIVE.zip: is it what PGXN takes? META.json by the specification's rules, and the files it names."""

import copy
import json
import pathlib
import sys
import zipfile

import jsonschema

SCHEMA = pathlib.Path(__file__).parents[2] / "packaging" / "pgxn-meta.schema.json"

# Each breaks one rule; a schema that takes one of them proves nothing.
SPOILED = {
    "no name": lambda m: m.pop("name"),
    "no provides": lambda m: m.pop("provides"),
    "no meta-spec": lambda m: m.pop("meta-spec"),
    "two numbers for a version": lambda m: m.update(version="1.0"),
    "an extension without a file": lambda m: m["provides"]["walsizer"].pop("file"),
    "an absolute path": lambda m: m["provides"]["walsizer"].update(file="/sql/walsizer.sql"),
    "an unknown licence": lambda m: m.update(license="postgres"),
    "an unknown phase": lambda m: m["prereqs"].update(compile={"requires": {"PostgreSQL": "13.0.0"}}),
    "a prerequisite's range in words": lambda m: m["prereqs"]["runtime"]["requires"].update(PostgreSQL="any"),
    "a slash in a tag": lambda m: m["tags"].append("wal/checkpoint"),
    "a key that the specification does not know": lambda m: m.update(homepage="https://pgxn.org"),
    "the next specification": lambda m: m["meta-spec"].update(version="2.0.0"),
}


def main():
    archive = zipfile.ZipFile(sys.argv[1])
    names = set(archive.namelist())
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    directory = pathlib.Path(sys.argv[1]).stem
    meta = json.loads(archive.read(f"{directory}/META.json"))
    faults = [f"{'/'.join(map(str, e.path))}: {e.message}" for e in validator.iter_errors(meta)]
    if directory != f"{meta['name']}-{meta['version']}":
        faults.append(f"the archive is not named {meta['name']}-{meta['version']}.zip")
    faults += [f"{n} lies outside {directory}/" for n in names if not n.startswith(f"{directory}/")]
    for name, extension in meta["provides"].items():
        for key in ("file", "docfile"):
            if f"{directory}/{extension[key]}" not in names:
                faults.append(f"{name}: the {key} {extension[key]} is not in the archive")
    for needed in ("Makefile", "LICENSE", "README.md", "walsizer.control"):
        if f"{directory}/{needed}" not in names:
            faults.append(f"{needed} is not in the archive")
    for what, spoil in SPOILED.items():
        spoiled = copy.deepcopy(meta)
        spoil(spoiled)
        if validator.is_valid(spoiled):
            faults.append(f"the schema takes a META.json with {what}")
    print("\n".join(faults) or f"## {directory}.zip: {len(names)} files; {len(SPOILED)} spoiled META.json refused")
    sys.exit(1 if faults else 0)


main()
