"""An agent as one .safetensors file: its weights, and in the metadata its game and its training.

Nothing is ever unpickled, so a file from a stranger can at worst be refused. The same agent gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

from beamzero.core.errors import BadInput
from beamzero.storage.files import check_writable, read_file, reason, write_atomically, writing

_FORMAT = "beamzero-agent-1"
_SUFFIX = ".safetensors"
_DEEPEST = 32
"""The deepest nesting of names of tensors, and of `info`."""

_DTYPES = {
    "F64": np.float64,
    "F32": np.float32,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "I64": np.int64,
    "I32": np.int32,
    "I16": np.int16,
    "I8": np.int8,
    "U64": np.uint64,
    "U32": np.uint32,
    "U16": np.uint16,
    "U8": np.uint8,
    "BOOL": np.bool_,
}


def save_agent(path: str | os.PathLike[str], tensors: Mapping[str, np.ndarray], info: Mapping[str, Any]) -> None:
    """Write an agent, replacing one that is there; `info` is anything that JSON can hold."""
    path = Path(path)
    if path.suffix != _SUFFIX:
        raise BadInput(f"an agent's file must end in {_SUFFIX}, but {path.name!r} does not")
    check_writable(path, "an agent is")
    text = json.dumps(dict(info), sort_keys=True)
    metadata = {"format": _FORMAT, "info": text, "sha256": _digest(tensors, text)}
    arrays = {name: _little_endian(tensor) for name, tensor in tensors.items()}
    with writing(str(path), otherwise=BadInput):
        write_atomically(path, _with_metadata(safetensors.numpy.save(arrays), metadata))


def load_agent(path: str | os.PathLike[str]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read the tensors and the info of an agent, as they were given to `save_agent`; BadInput where that fails."""
    path = Path(path)
    try:
        data = read_file(path)
    except (FileNotFoundError, NotADirectoryError):
        raise BadInput(f"there is no agent file {path}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {reason(error)}") from None
    try:
        entries = dict(safetensors.deserialize(data))
        metadata = json.loads(_header(data)).get("__metadata__") or {}
    except (safetensors.SafetensorError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is cut short or not a safetensors file ({reason(error)})") from None
    _check_format(metadata.get("format"), path)
    try:
        tensors = {name: _array(entry) for name, entry in sorted(entries.items())}
        info = json.loads(metadata["info"])
        if not isinstance(info, dict) or _is_deep(info):
            raise ValueError
    except (KeyError, ValueError, RecursionError):
        raise BadInput(f"{path} is damaged: what it says about the agent cannot be read") from None
    if metadata.get("sha256") != _digest(tensors, metadata["info"]):
        raise BadInput(f"{path} is damaged: its content does not match its SHA-256")
    return tensors, info


def flatten(tree: Mapping[Any, Any]) -> dict[str, np.ndarray]:
    """Flatten nested dicts of arrays to one dict, with the keys on the way joined by "/". Empty dicts vanish.

    A key is a text without "/", or the number of a module in a list.
    """
    flat: dict[str, np.ndarray] = {}
    for key, value in tree.items():
        if not isinstance(key, str | int) or key == "" or "/" in str(key):
            raise ValueError(f"a key must be a number or text without '/', but one is {key!r}")
        if isinstance(value, Mapping):
            flat.update({f"{key}/{name}": array for name, array in flatten(value).items()})
        else:
            flat[str(key)] = np.asarray(value)
    return flat


def _is_deep(info: Any) -> bool:
    """Tell whether dicts and lists are nested so far that programs which go through them would fail."""
    level = [info]
    for _ in range(_DEEPEST):
        level = [item for nest in level for item in (nest.values() if isinstance(nest, dict) else nest)]
        level = [item for item in level if isinstance(item, dict | list)]
    return bool(level)


def _digest(tensors: Mapping[str, np.ndarray], info: str) -> str:
    """Compute the SHA-256 over `info` and every tensor's name, dtype, shape and bytes, in any order of the tensors."""
    digest = hashlib.sha256(info.encode())
    for name in sorted(tensors):
        tensor = _little_endian(tensors[name])
        digest.update(json.dumps([name, str(tensor.dtype), tensor.shape]).encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()


def _little_endian(tensor: np.ndarray) -> np.ndarray:
    """Make an array dense, in the byte order of the file; a scalar stays one, unlike with np.ascontiguousarray."""
    tensor = np.asarray(tensor, order="C")
    return tensor.astype(tensor.dtype.newbyteorder("<")) if tensor.dtype.byteorder == ">" else tensor


def _array(entry: Mapping[str, Any]) -> np.ndarray:
    return np.frombuffer(entry["data"], _DTYPES[entry["dtype"]]).reshape(entry["shape"]).copy()


def _header(data: bytes) -> bytes:
    """Cut out the JSON at the head of a safetensors file, behind its length in eight bytes."""
    return data[8 : 8 + int.from_bytes(data[:8], "little")]


def _with_metadata(data: bytes, metadata: dict[str, str]) -> bytes:
    """Put metadata into `data` in a fixed order, which safetensors itself changes from one process to the next."""
    old = _header(data)
    header = json.dumps({"__metadata__": metadata, **json.loads(old)}, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[8 + len(old) :]


def _check_format(format: Any, path: Path) -> None:
    if format == _FORMAT:
        return
    if isinstance(format, str) and format.startswith("beamzero-agent-"):
        raise BadInput(f"{path} has the format {format!r}, but this version of beamzero reads {_FORMAT!r}")
    raise BadInput(f"{path} is a safetensors file, but not a beamzero agent")
