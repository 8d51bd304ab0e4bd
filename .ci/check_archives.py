"""Checks that a wheel and an sdist hold every file of the package that git knows.

    python check_archives.py FOLDER

FOLDER holds one wheel and one sdist; the files are those of the checkout this is run in.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path


def main() -> int:
    folder = Path(sys.argv[1])
    (wheel,) = folder.glob("*.whl")
    (sdist,) = folder.glob("*.tar.gz")
    listed = subprocess.run(
        ["git", "ls-files", "mrjack_ai"], capture_output=True, text=True, check=True
    )
    wanted = set(listed.stdout.splitlines())
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    missing = {wheel.name: wanted - in_wheel, sdist.name: wanted - in_sdist}
    for name, files in missing.items():
        for file in sorted(files):
            print(f"{name} lacks {file}", file=sys.stderr)
    print(f"{len(wanted)} files of the package looked for in {wheel.name} and {sdist.name}")
    return int(any(missing.values()))


if __name__ == "__main__":
    sys.exit(main())
