"""Names and modules of packages that are imported when they are first used."""

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Callable, Mapping


def on_first_use(package: str, exports: Mapping[str, str] | None = None) -> tuple[Callable, ...]:
    """Returns `__getattr__` and `__dir__` of a package, by which its modules are attributes.

        __getattr__, __dir__ = on_first_use(__name__)

    `dir` lists the names in the package's `__all__` and its modules.

    Args:
        package: dotted name of the package.
        exports: name -> module that it is imported from, or that has this name too.
    """
    exports = exports or {}

    def get(name):
        if name in exports:
            module = importlib.import_module(exports[name])
            return getattr(module, name, module)
        module = f"{package}.{name}"
        if not name.startswith("_") and importlib.util.find_spec(module):
            return importlib.import_module(module)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names():
        itself = sys.modules[package]
        modules = (module.name for module in pkgutil.iter_modules(itself.__path__))
        return sorted({*getattr(itself, "__all__", ()), *modules})

    return get, names
