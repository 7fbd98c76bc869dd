"""Names of kernels, under which their code is kept on disk (`acausal/vault.py`), so that nothing is compiled once a process.

One file holds one kernel. Its name is a hash of everything the code depends on: the expressions (outputs and derivatives), the
signs, the compiler, the processor, the calling convention and the code generator itself. The hash is taken from the expressions,
so that nothing is generated for a kernel that is already there; most often from the outputs and the rules of differentiation, so
that nothing is differentiated either.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from functools import cache
from typing import Any

from ..economy import blake2b
from ..families.template import Template
from ..language.expression import Call, Constant, Expression, Operation, Slot, walk
from ..vault import content_of

ABI_VERSION = 2  # of the calling convention in emit.py; a change there needs another number here
_DIGEST_SIZE = 20


def key_of(template: Template, signs: tuple[int, ...], compiler: str) -> str:
    """The name of a kernel: equal names, equal code. `compiler` says what compiles, and for which processor."""
    digest = blake2b(digest_size=_DIGEST_SIZE)
    text = f"{template.name_of_code} {signs}" if template.name_of_code else canonical_text(template, signs)
    for part in (str(ABI_VERSION), _code_generator(), compiler, text, str(expected_entries(template))):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def expected_entries(template: Template) -> list[tuple[int, int]]:
    """Which derivatives a caller will have places for, by output and slot. A model file states them, so they are part of the name:
    code that was made for others is not found, and what is made anew is compared with them."""
    return [(entry.output, entry.slot) for entry in template.entries]


@cache
def host() -> str:
    """What compiles, and for which processor: known without starting the compiler, which takes longer than most models."""
    spec = importlib.util.find_spec("llvmlite")
    assert spec is not None and spec.origin is not None
    folder = os.path.join(os.path.dirname(spec.origin), "binding")
    libraries = sorted(name for name in os.listdir(folder) if "llvmlite." in name)
    made = [f"{name} {s.st_size} {s.st_mtime_ns}" for name in libraries for s in [os.stat(os.path.join(folder, name))]]
    return " ".join([sys.platform, *made, _processor()])


def _processor() -> str:
    """What distinguishes a processor: the first one of the machine, without what changes from moment to moment."""
    try:
        lines = content_of("/proc/cpuinfo").decode(errors="replace").partition("\n\n")[0].splitlines()
        told = [
            line for line in lines if not line.startswith(("cpu MHz", "bogomips", "processor", "apicid", "initial apicid", "core"))
        ]
    except OSError:
        told = []
    if told:
        return blake2b("\n".join(told).encode(), digest_size=_DIGEST_SIZE).hexdigest()
    import llvmlite.binding as llvm

    return f"{llvm.get_host_cpu_name()} {llvm.get_host_cpu_features().flatten()}"


@cache
def _code_generator() -> str:
    """A hash of what makes code: whoever changes the code generator must not meet the code of yesterday."""
    try:
        parts = [content_of(os.path.join(os.path.dirname(__file__), name)) for name in ("emit.py", "compile.py", "image.py")]
        return blake2b(b"\0".join(parts)).hexdigest()
    except OSError:
        return ""


def canonical_text(template: Template, signs: tuple[int, ...]) -> str:
    """The template as a list of numbered nodes, the same in every process.

    Derivatives are part of it, because rules of differentiation change and functions bring their own. A function stands by its
    place, its arity and whether it has data; its address is given at run time.
    """
    entries = template.jacobian
    places = {id(f): k for k, f in enumerate(template.functions)}
    numbers: dict[Expression, int] = {}
    lines = []
    for node in walk(*template.outputs, *(g for _, _, g in entries)):
        numbers[node] = len(numbers)
        lines.append(" ".join([_head(node, places), *(str(numbers[a]) for a in node.args)]))
    lines.append("outputs " + " ".join(str(numbers[o]) for o in template.outputs))
    lines.append("jacobian " + " ".join(f"{k},{s},{numbers[g]}" for k, s, g in entries))
    lines.append("signs " + " ".join(map(str, signs)))
    return "\n".join(lines)


def _head(node: Expression, places: dict[int, int]) -> str:
    if isinstance(node, Operation):
        return node.operator.name
    if isinstance(node, Slot):
        return f"${node.number}:{node.kind}"
    if isinstance(node, Constant):
        return node.value.hex()
    if isinstance(node, Call):
        function: Any = node.function
        evaluation: Any = function.evaluation
        place = places[id(evaluation)]
        if evaluation is not function:
            return f"s{place}:{len(node.args)}:{evaluation.outputs}:{function.place}{','.join(evaluation.passing)}"
        return f"f{place}:{len(node.args)}{'d' if function.data_address else ''}"
    raise AssertionError(f"{type(node).__name__} does not stand in templates")
