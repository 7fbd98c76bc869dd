"""The public surface: light to import, everything documented, every name there."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import acausal as ac

HEAVY = ("scipy", "llvmlite", "pint", "matplotlib", "pandas", "rich", "typer", "h5py", "pyarrow", "sksundae")


def test_importing_imports_nothing_heavy():
    program = f"import sys, acausal; print([m for m in {HEAVY!r} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_command_line_and_the_server_need_no_numpy():
    """`acausal studio` listens, and its worker begins, before numpy is read."""
    program = "import sys, acausal.cli.app, acausal.studio.server; print([m for m in ('numpy', 'scipy') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_what_is_imported_late_is_what_type_checkers_see():
    tree = ast.parse(Path(ac.__file__).read_text(encoding="utf-8"))
    seen = next(node for node in tree.body if isinstance(node, ast.If))
    stated = {
        (alias.asname or alias.name): (node.module, alias.name) if node.module else (alias.name, "")
        for node in seen.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert stated == ac._LATE


def test_stating_a_model_imports_nothing_heavy():
    program = (
        "import sys, acausal as ac\n"
        "class A(ac.Component):\n    x = ac.Variable(start=1.0, unit='K')\n"
        "    def equations(self):\n        yield ac.der(self.x) == -self.x\n"
        f"A(); print([m for m in {HEAVY!r} if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ac.__all__)
def test_every_public_name_exists_and_is_documented(name):
    found = getattr(ac, name)
    if inspect.isclass(found) or inspect.isfunction(found) or inspect.ismodule(found):
        assert found.__doc__ and found.__doc__.strip(), name


@pytest.mark.parametrize("name", [n for n in ac.__all__ if inspect.isclass(getattr(ac, n))])
def test_public_methods_are_documented(name):
    members = {k: m for k, m in vars(getattr(ac, name)).items() if not k.startswith("_")}
    functions = {k: m.fget if isinstance(m, property) else getattr(m, "__func__", m) for k, m in members.items()}
    assert [k for k, f in functions.items() if inspect.isfunction(f) and not f.__doc__] == []


@pytest.mark.parametrize("name", [n for n in ac.__all__ if callable(getattr(ac, n))])
def test_public_functions_and_methods_say_what_they_take_and_give(name):
    found = getattr(ac, name)
    own = {name: found} if inspect.isfunction(found) else {}
    if inspect.isclass(found):
        members = {k: m for k, m in vars(found).items() if not k.startswith("_")}
        own = {f"{name}.{k}": m.fget if isinstance(m, property) else getattr(m, "__func__", m) for k, m in members.items()}
    for path, function in own.items():
        if inspect.isfunction(function):
            signature = inspect.signature(function)
            silent = [p.name for p in signature.parameters.values() if p.annotation is p.empty and p.name not in ("self", "cls")]
            assert silent == [] and signature.return_annotation is not signature.empty, path


def test_all_is_sorted_and_complete():
    public = [n for n in vars(ac) if not n.startswith("_") and not inspect.ismodule(vars(ac)[n])]
    missing = [n for n in public if n not in ac.__all__ and n not in ("annotations", "TYPE_CHECKING", "Any")]
    assert missing == []
    assert len(set(ac.__all__)) == len(ac.__all__)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"acausal has no `nothing`\.$"):
        ac.nothing  # noqa: B018


def test_type_checkers_know_what_is_imported_late():
    source = ast.parse(Path(ac.__file__).read_text(encoding="utf-8"))
    block = next(n for n in source.body if isinstance(n, ast.If))
    known = {name.asname or name.name for node in block.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert known == set(ac._LATE)


def test_a_name_that_is_not_there_is_told_with_what_is_near():
    from acausal.library import mechanics, thermal

    for read, told in (
        (lambda: ac.Paramter, r"acausal has no `Paramter`. Did you mean `Parameter`"),
        (lambda: ac.library.termal, r"acausal.library has no `termal`. Did you mean `thermal`"),
        (lambda: thermal.HeatSource, r"(?s)acausal.library.thermal has no `HeatSource`.*It has: .*FixedHeatFlow"),
        (lambda: mechanics.Spring, r"(?s)has no `Spring`.*It has: .*translational"),
    ):
        with pytest.raises(AttributeError, match=told):
            read()
    assert not hasattr(ac, "__wrapped__")
    assert not hasattr(thermal, "__wrapped__")


def test_a_domain_lists_what_it_brings():
    from acausal.library import thermal

    assert {"HeatCapacitor", "HeatPort", "STEFAN_BOLTZMANN"} <= set(dir(thermal))
    assert not {"Any", "Iterator", "ac", "annotations"} & set(dir(thermal))
