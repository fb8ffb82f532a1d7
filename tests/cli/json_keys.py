"""What a command prints with --json, held against the table of its keys."""

from __future__ import annotations

from typing import Any

from beamzero.cli.json_keys import JSON_KEYS


class Keys(dict[str, "Keys"]):
    """The keys below a key, by name; `[]` stands for each object of a list."""

    optional = False


def key_tree(name: str) -> Keys:
    """Make a tree of the keys that the table has for a command."""
    tree = Keys()
    for path in JSON_KEYS[name]:
        place = tree
        for word in path.replace("?[]", "[]?").replace("[]", ".[]").split("."):
            optional = word.endswith("?")
            if word == "[]?":
                place.optional, optional, word = True, False, "[]"
            place = place.setdefault(word.removesuffix("?"), Keys())
            place.optional |= optional
    return tree


def complaints(printed: Any, tree: Keys, where: str = "", free: bool = False) -> list[str]:
    """List the keys that are printed and not in the table, and those that are in it and not printed."""
    if not tree:
        shaped = isinstance(printed, dict) or (isinstance(printed, list) and any(isinstance(x, dict) for x in printed))
        return [f"{where}: the table does not say which keys it has"] if shaped and not free else []
    if printed is None:
        return []
    if "[]" in tree:
        return [line for one in printed for line in complaints(one, tree["[]"], f"{where}[]")]
    found = [f"{where}.{key} is missing" for key, keys in tree.items()
             if key not in printed and key != "*" and not keys.optional]  # fmt: skip
    for key, value in printed.items():
        keys = tree.get(key, tree.get("*"))
        if keys is None:
            found.append(f"{where}.{key} is not in the table")
        else:
            found += complaints(value, keys, f"{where}.{key}", free=key not in tree)
    return found


def check_keys(name: str, printed: Any) -> None:
    """Fail where what a command printed has other keys than the table says."""
    assert complaints(printed, key_tree(name)) == []
