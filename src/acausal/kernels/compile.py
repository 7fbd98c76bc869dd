"""Templates to callable addresses: memo, disk, compiler, in that order.

Measured (two-function kernels of usual size): generating IR 0.2 ms, instruction combining 0.4 ms, machine code 4 ms, linking
0.2 ms. LLVM's standard pipelines (-O1 … -O3) double the compile time and give the same loops, because what they would find is
not there: expressions are interned, the loop is emitted in its final shape, and rows cannot be vectorised over. One module for all
kernels of a call would save a quarter of the time, but kernels could then not be kept one by one.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..families.template import Template
from .cache import key_of
from .emit import emit_kernel
from .vault import open_vault

Request = tuple[Template, tuple[int, ...]]

LARGEST_OPTIMISED = 2_500_000  # characters of IR (some 10 000 nodes, 4 s); beyond it the time grows quadratically, to minutes


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Kernel:
    """Machine code of one template. It stays in memory as long as this object does, or the template it was compiled for."""

    residual_address: int
    jacobian_address: int  # 0: nothing to differentiate
    library: Any = field(repr=False)


class Statistics(NamedTuple):
    """What became of the requests of this process so far."""

    compiled: int
    loaded_from_disk: int
    memo_hits: int


def compile_kernels(requests: Iterable[Request]) -> list[Kernel]:
    """Machine code for each (template, signs), the signs being one of PLUS, MINUS, MIXED for each slot.

    >>> from acausal.families.template import PLUS, Template
    >>> from acausal.language.expression import Slot
    >>> template = Template((Slot(0, "known") * Slot(1, "derivative") - Slot(2, "variable"),))
    >>> (kernel,) = compile_kernels([(template, (PLUS, PLUS, PLUS))])
    >>> kernel.residual_address > 0
    True
    """
    with _lock:
        return _compiler().kernels(list(requests))


def statistics() -> Statistics:
    """How many kernels this process compiled, loaded from disk, and had already."""
    with _lock:
        return Statistics(*_counts)


_lock = threading.RLock()
_COMPILED, _LOADED, _MEMO = range(3)
_counts = [0, 0, 0]


@cache
def _compiler() -> _Compiler:
    return _Compiler()


class _Compiler:
    """LLVM for this processor, and what it has compiled so far."""

    def __init__(self) -> None:
        import llvmlite
        import llvmlite.binding as llvm

        self.llvm = llvm
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_default_triple()
        processor, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
        settings = {"cpu": processor, "features": features, "reloc": "pic", "codemodel": "default"}
        self.machine = target.create_target_machine(opt=2, **settings)
        self.hasty_machine = target.create_target_machine(opt=0, **settings)
        self.linker = llvm.create_lljit_compiler(self.machine, suppress_errors=True)
        self.header = f'target datalayout = "{self.machine.target_data}"\ntarget triple = "{self.machine.triple}"\n'
        version = ".".join(map(str, llvm.llvm_version_info))
        self.identity = f"llvmlite {llvmlite.__version__} LLVM {version} {self.machine.triple} {processor} {features}"
        self.by_template: WeakKeyDictionary[Template, dict[tuple[int, ...], Kernel]] = WeakKeyDictionary()
        self.by_key: WeakValueDictionary[str, Kernel] = WeakValueDictionary()
        self.libraries = 0

    def kernels(self, requests: Sequence[Request]) -> list[Kernel]:
        found = [self.by_template.setdefault(template, {}).get(signs) for template, signs in requests]
        missing = [request for request, kernel in zip(requests, found, strict=True) if kernel is None]
        keys = [key_of(template, signs, self.identity) for template, signs in missing]
        kept = {key: kernel for key in keys if (kernel := self.by_key.get(key)) is not None}
        wanted = {key: request for key, request in zip(keys, missing, strict=True) if key not in kept}
        kept |= self._provide(wanted)
        for (template, signs), key in zip(missing, keys, strict=True):
            self.by_template[template][signs] = kept[key]
        _counts[_MEMO] += len(requests) - len(wanted)
        return [self.by_template[template][signs] for template, signs in requests]

    def _provide(self, wanted: dict[str, Request]) -> dict[str, Kernel]:
        """Load or compile what is wanted. Keys know functions by place only, so that two templates may share a kernel."""
        if not wanted:
            return {}
        vault = open_vault()
        loaded = {key: code for key in wanted if (code := vault.load(key)) is not None} if vault is not None else {}
        made = {key: self._object_code(key, *request) for key, request in wanted.items() if key not in loaded}
        try:
            library = self._link({**loaded, **made}, wanted)
        except RuntimeError:  # the files were whole, yet LLVM refuses one: trust none of them
            if not loaded:
                raise
            made |= {key: self._object_code(key, *wanted[key]) for key in loaded}
            loaded = {}
            library = self._link(made, wanted)
        if vault is not None and made:
            vault.store(made.items())
        _counts[_COMPILED] += len(made)
        _counts[_LOADED] += len(loaded)
        provided = {}
        for key, (template, _) in wanted.items():
            jacobian = library[f"jacobian_{key}"] if template.jacobian else 0
            self.by_key[key] = provided[key] = Kernel(library[f"residual_{key}"], jacobian, library)
        return provided

    def _object_code(self, key: str, template: Template, signs: tuple[int, ...]) -> bytes:
        text = emit_kernel(template, signs, key)
        if len(text) > LARGEST_OPTIMISED:
            return bytes(self.hasty_machine.emit_object(self.llvm.parse_assembly(self.header + text)))
        module = self.llvm.parse_assembly(self.header + text)
        builder = self.llvm.create_pass_builder(self.machine, self.llvm.create_pipeline_tuning_options(speed_level=1))
        passes = self.llvm.create_new_function_pass_manager()
        passes.add_instruction_combine_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
        return bytes(self.machine.emit_object(module))

    def _link(self, objects: dict[str, bytes], wanted: dict[str, Request]) -> Any:
        """One library for all kernels of a call. Names of functions hold the key, so that no two libraries clash."""
        builder = self.llvm.JITLibraryBuilder()
        for code in objects.values():
            builder.add_object_img(code)
        builder.add_current_process()  # the mathematical library
        for key, (template, _) in wanted.items():
            builder.export_symbol(f"residual_{key}")
            if template.jacobian:
                builder.export_symbol(f"jacobian_{key}")
        self.libraries += 1
        return builder.link(self.linker, f"kernels{self.libraries}")
