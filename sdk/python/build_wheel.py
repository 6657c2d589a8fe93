"""Builds the wheel, as PEP 517 asks for, with the standard library alone: `pip install` works without a network."""

import base64
import hashlib
import os
import runpy
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent
VERSION = runpy.run_path(str(ROOT / "svc" / "version.py"))["__version__"]
DIST_INFO = f"svc_sdk-{VERSION}.dist-info"
METADATA = f"""\
Metadata-Version: 2.1
Name: svc-sdk
Version: {VERSION}
Summary: Reports metrics, checkpoints and events of a training to the svc job control service.
License: MIT
Requires-Python: >=3.9
Classifier: Programming Language :: Python :: 3
Classifier: Operating System :: OS Independent
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: svc\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    files = [file for file in (ROOT / "svc").rglob("*") if file.suffix == ".py" or file.name == "py.typed"]
    return _write(wheel_directory, {file.relative_to(ROOT).as_posix(): file.read_bytes() for file in sorted(files)})


def build_editable(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """For `pip install -e`: a wheel that leads to the sources."""
    return _write(wheel_directory, {"svc-sdk.pth": os.fsencode(f"{ROOT}\n")})


def _write(wheel_directory: str, contents: dict[str, bytes]) -> str:
    readme = (ROOT / "README.md").read_text("utf-8")
    files = {
        **contents,
        f"{DIST_INFO}/METADATA": (METADATA + readme).encode(),
        f"{DIST_INFO}/WHEEL": WHEEL.encode(),
    }
    record = "".join(f"{name},sha256={_hash(data)},{len(data)}\n" for name, data in files.items())
    files[f"{DIST_INFO}/RECORD"] = f"{record}{DIST_INFO}/RECORD,,\n".encode()
    wheel = f"svc_sdk-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return wheel


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
