"""Versions of games that are defined outside the package: hashes of what their rules say."""

import hashlib

from ..kernel.source import hash_function


def source_version(functions) -> str:
    """Return a hash of the code of all rules and of the constants and helpers that they use."""
    digest = hashlib.sha256()
    for rule, function in sorted(functions.items()):
        if function is not None:
            digest.update(rule.encode())
            hash_function(digest, function, set())
    return "source-" + digest.hexdigest()[:12]
