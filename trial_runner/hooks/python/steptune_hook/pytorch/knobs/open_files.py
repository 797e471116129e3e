# SPDX-License-Identifier: Apache-2.0
"""Finds files and connections that a data set has open. Forked workers inherit them. HDF5 and LMDB then read wrong
data. SQLite connections must not be used after a fork (https://www.sqlite.org/howtocorrupt.html, 2.6). Processes share
the position in a plain file, and read each other's answers from a socket."""

import io
import sys

_MAX_DEPTH = 4
_MOST_ITEMS = 64  # of a container that is searched
_LIBRARIES = ("h5py", "lmdb", "tables")
_CONNECTIONS = ("sqlite3.Connection", "socket.socket")


def why_not_forked(data_set):
    """Returns why workers may not be forked with the data set; None if no open file was found."""
    found = _found(data_set, 0, set())
    if found is None:
        return None
    what = "connection" if found in _CONNECTIONS else "file"
    return "the data set holds an open %s (%s), which workers would share" % (what, found)


def _found(value, depth, seen):
    if depth > _MAX_DEPTH or id(value) in seen:
        return None
    seen.add(id(value))
    name = _name_of_open(value)
    if name is not None:
        return name
    for item in _items(value):
        name = _found(item, depth + 1, seen)
        if name is not None:
            return name
    return None


def _name_of_open(value):
    cls = type(value)
    library = cls.__module__.partition(".")[0]
    if cls is getattr(sys.modules.get("lmdb"), "Environment", None):
        library = "lmdb"  # lmdb.Environment is written in C and has no module name
    if library in _LIBRARIES:
        # A closed file of h5py is false; PyTables has `isopen`.
        closed = not value if library == "h5py" else not getattr(value, "isopen", True)
        return None if closed else "%s.%s" % (library, cls.__name__)
    for name in _CONNECTIONS:
        library, _, connection = name.partition(".")
        if isinstance(value, getattr(sys.modules.get(library), connection, ())):
            return name if _is_connected(value) else None
    if isinstance(value, io.IOBase):
        try:
            if value.closed:
                return None
            value.fileno()
        except Exception:  # in memory, or a class of the program without a file
            return None
        return cls.__name__
    return None


def _is_connected(connection):
    if hasattr(connection, "fileno"):
        return connection.fileno() >= 0
    try:
        return connection.total_changes >= 0
    except Exception:  # a closed connection of SQLite
        return False


def _items(value):
    """Returns the items of small containers; nothing for large ones."""
    if isinstance(value, dict):
        value = list(value.values())
    elif not isinstance(value, (list, tuple)):
        attributes = getattr(value, "__dict__", None)
        value = list(attributes.values()) if attributes and not isinstance(value, type) else ()
    return value if len(value) <= _MOST_ITEMS else ()
