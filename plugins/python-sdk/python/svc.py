"""Stands for the SDK at the end of PYTHONPATH, because what PYTHONPATH names comes before installed packages.

`import svc` reaches this file when neither the folder of the script nor the user's PYTHONPATH has a module `svc`. An installed `svc`
takes its place, and without one the SDK that came with the agent does.
"""

import importlib
import importlib.util
import os
import sys

_HERE = os.path.dirname(__file__)
_SDK = os.path.join(os.path.dirname(_HERE), "sdk")


def _has_code(spec):
    """A folder without __init__.py is a package of the user when modules lie in it. Python finds one in any folder of that name."""
    if spec.origin or not spec.submodule_search_locations:
        return True
    folders = [folder for folder in spec.submodule_search_locations if os.path.isdir(folder)]
    names = [name for folder in folders for name in os.listdir(folder)]
    return any(name.endswith(".py") for name in names)


sys.path[:] = [folder for folder in sys.path if folder != _HERE]
# Python returns from an import what then stands in sys.modules: the module that the second import finds.
del sys.modules["svc"]
_found = importlib.util.find_spec("svc")
if _found is None or not _has_code(_found):
    sys.path.append(_SDK)
importlib.import_module("svc")
