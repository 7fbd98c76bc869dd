"""Templates to callable addresses: memo, disk, compiler, in that order.

Measured (kernels of some 30 operations, two functions each): generating IR 0.4 ms, machine code 10 ms, in haste 1.7 ms, with the
same bits and loops that take 1.2 to 1.5 times as long. So a plant of many classes with few instances each is compiled in haste,
everything else well. LLVM's standard pipelines (-O1 … -O3) double the compile time and give the same loops, because what they would
find is not there: expressions are interned, the loop is emitted in its final shape, and rows cannot be vectorised over. Only where
rows follow each other in memory (`Family.access`) they can, and then the pipeline with the vectoriser runs: the same bits again,
because no operation is reordered.
Kernels are compiled in batches, because a module costs as much as a small kernel; their code is taken apart again (`image.py`),
kept one by one, and loaded without LLVM. While LLVM compiles one batch, the text of the next is written.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from enum import Enum
from functools import cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

from ..economy import blake2b
from ..errors import ModelError
from ..families.template import Template
from ..records import dataclass
from ..vault import Vault, open_vault
from .cache import expected_entries, host, key_of
from .image import Image, Mapped, images_of, mapped, together

Request = tuple[Template, tuple[int, ...]]

LARGEST_OPTIMISED = 2_500_000  # characters of IR (some 10 000 nodes, 4 s); beyond it the time grows quadratically, to minutes
MANY = 128  # kernels to be compiled at once, of which those for few rows are compiled in haste
FEW = 32  # rows
BATCH = 8  # kernels in a module
FEWEST_TOGETHER, MOST_TOGETHER = 8, 64  # kernels that are wanted at once and so are kept in one file, too
LARGEST_TOGETHER = 2**18  # bytes: larger files would drive others out of the vault
_HASTY = "in haste "


@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Kernel:
    """Machine code of one template. It stays in memory as long as this object does, or the template it was compiled for."""

    residual_address: int
    jacobian_address: int  # 0: nothing to differentiate
    library: Any = field(repr=False)
    hasty: bool = False  # good enough for few rows


class Statistics(NamedTuple):
    """What became of the requests of this process so far."""

    compiled: int
    loaded_from_disk: int
    memo_hits: int


def compile_kernels(requests: Iterable[Request], rows: Sequence[int] | None = None) -> list[Kernel]:
    """Machine code for each (template, signs), the signs being one of PLUS, MINUS, MIXED for each slot. `rows`: how many each is
    asked for; without it, many.

    >>> from acausal.families.template import PLUS, Template
    >>> from acausal.language.expression import Slot
    >>> template = Template((Slot(0, "known") * Slot(1, "derivative") - Slot(2, "variable"),))
    >>> (kernel,) = compile_kernels([(template, (PLUS, PLUS, PLUS))])
    >>> kernel.residual_address > 0
    True
    """
    wanted = list(requests)
    with _lock:
        return _store().kernels(wanted, [n <= FEW for n in rows] if rows is not None else [False] * len(wanted))


def statistics() -> Statistics:
    """How many kernels this process compiled, loaded from disk, and had already."""
    with _lock:
        return Statistics(*_counts)


_lock = threading.RLock()
_COMPILED, _LOADED, _MEMO = range(3)
_counts = [0, 0, 0]


@cache
def _store() -> _Store:
    return _Store()


@dataclass(slots=True)
class _Wanted:
    """A kernel that is not there yet; `few`: it serves few rows only."""

    key: str
    template: Template
    signs: tuple[int, ...]
    few: bool

    @property
    def names(self) -> list[str]:
        return [f"residual_{self.key}", *([f"jacobian_{self.key}"] if self.template.entries else [])]

    @property
    def places(self) -> list[str]:
        """Where its code may be kept, the best first."""
        return [self.key, _in_haste(self.key)] if self.few else [self.key]


def _in_haste(key: str) -> str:
    return f"{key}h"


class _Store:
    """The kernels of this process."""

    def __init__(self) -> None:
        self.by_template: WeakKeyDictionary[Template, dict[tuple[int, ...], Kernel]] = WeakKeyDictionary()
        self.by_key: WeakValueDictionary[str, Kernel] = WeakValueDictionary()

    def kernels(self, requests: Sequence[Request], few: Sequence[bool]) -> list[Kernel]:
        keys = [self._known(template, signs, enough) or "" for (template, signs), enough in zip(requests, few, strict=True)]
        wanted: dict[str, _Wanted] = {}
        for k, ((template, signs), enough) in enumerate(zip(requests, few, strict=True)):
            if keys[k]:
                continue
            keys[k] = key = key_of(template, signs, host())
            found = self.by_key.get(key)
            if found is not None and (enough or not found.hasty):
                self.by_template[template][signs] = found
            elif key not in wanted:
                wanted[key] = _Wanted(key, template, signs, enough)
            else:
                wanted[key].few &= enough
        made = self._provide(list(wanted.values()))
        for (template, signs), key in zip(requests, keys, strict=True):
            if key in made:
                self.by_template[template][signs] = made[key]
        _counts[_MEMO] += len(requests) - len(wanted)
        return [self.by_template[template][signs] for template, signs in requests]

    def _known(self, template: Template, signs: tuple[int, ...], few: bool) -> str | None:
        found = self.by_template.setdefault(template, {}).get(signs)
        return "known" if found is not None and (few or not found.hasty) else None

    def _provide(self, wanted: list[_Wanted]) -> dict[str, Kernel]:
        """Load or compile what is wanted. Keys know functions by place only, so that two templates may share a kernel."""
        if not wanted:
            return {}
        vault = open_vault()
        if vault is None or len(wanted) < FEWEST_TOGETHER:
            return self._one_by_one(vault, wanted)[0]
        found: dict[str, Kernel] = {}
        bundles, apart = [wanted[k : k + MOST_TOGETHER] for k in range(0, len(wanted), MOST_TOGETHER)], list[list[_Wanted]]()
        for bundle in bundles:
            if (read := _all_at_once(vault, bundle)) is None:
                apart.append(bundle)
                continue
            library, hasty = read
            found |= {one.key: self._kernel(one, library, _in_haste(one.key) if one.key in hasty else one.key) for one in bundle}
        _counts[_LOADED] += len(found)
        if apart:
            made, kept = self._one_by_one(vault, [one for bundle in apart for one in bundle])
            found |= made
            for bundle in apart:
                _keep_together(vault, bundle, kept)
        return found

    def _one_by_one(self, vault: Vault | None, wanted: list[_Wanted]) -> tuple[dict[str, Kernel], dict[str, tuple[str, bytes]]]:
        """The same, from a file for each; and the code as it is kept, with its name."""
        loaded: dict[str, tuple[str, bytes]] = {}
        for one in wanted if vault is not None else []:
            for place in one.places:
                if (content := vault.load(place)) is not None:  # type: ignore[union-attr]
                    loaded[one.key] = place, content
                    break
        try:
            libraries = _linked({key: content for key, (_, content) in loaded.items()}, wanted)
        except RuntimeError:  # the files were whole, yet one is refused: trust none of them
            loaded, libraries = {}, {}
        missing = [one for one in wanted if one.key not in loaded]
        made, new = _made(missing) if missing else ({}, {})
        libraries |= new
        if vault is not None and made:
            vault.store(made.values())
        _counts[_COMPILED] += len(made)
        _counts[_LOADED] += len(loaded)
        kept = loaded | made
        return {one.key: self._kernel(one, libraries[one.key], kept[one.key][0]) for one in wanted}, kept

    def _kernel(self, one: _Wanted, library: Any, place: str) -> Kernel:
        addresses = [library[name] for name in one.names]
        kernel = self.by_key[one.key] = Kernel(addresses[0], addresses[1] if addresses[1:] else 0, library, place != one.key)
        return kernel


def _name_together(wanted: list[_Wanted]) -> str:
    """Under which the code of some kernels is kept in one file: over their names, in their order, and how well each is compiled."""
    text = " ".join(f"{one.key}{'h' * one.few}" for one in wanted)
    return f"{blake2b(text.encode(), digest_size=20).hexdigest()}-together"


def _all_at_once(vault: Vault, wanted: list[_Wanted]) -> tuple[Mapped, set[str]] | None:
    """The code of all of them from one file, and which of them were compiled in haste."""
    content = vault.load(_name_together(wanted))
    image = Image.from_bytes(content) if content is not None else None
    if image is None or not {name for one in wanted for name in one.names} <= image.entries.keys():
        return None
    library = mapped([image])
    return None if library is None else (library, {name[len(_HASTY) :] for name in image.entries if name.startswith(_HASTY)})


def _keep_together(vault: Vault, wanted: list[_Wanted], kept: dict[str, tuple[str, bytes]]) -> None:
    """Whoever wants the same kernels again reads one file."""
    images = [Image.from_bytes(kept[one.key][1]) for one in wanted]
    if all(image is not None for image in images):
        whole = together([image for image in images if image is not None])
        if len(whole.code) > LARGEST_TOGETHER:
            return
        hasty = {f"{_HASTY}{one.key}": 0 for one in wanted if kept[one.key][0] != one.key}
        vault.store([(_name_together(wanted), Image(whole.code, {**whole.entries, **hasty}, whole.outside).to_bytes())])


def _made(missing: list[_Wanted]) -> tuple[dict[str, tuple[str, bytes]], dict[str, Any]]:
    """Code as it is kept, and the libraries that have it; object files, where the system does not let images be mapped."""
    compiler = _compiler()
    made = compiler.compiled(missing)
    try:
        return made, _linked({key: content for key, (_, content) in made.items()}, missing)
    except RuntimeError:
        if not compiler.mappable:
            raise
        compiler.mappable = False
        return _made(missing)


def _refuse_other_derivatives(template: Template) -> None:
    """Code writes a number for each derivative that there is. A file that states others would have it write elsewhere."""
    if expected_entries(template) != [(output, slot) for output, slot, _ in template.jacobian]:
        raise ModelError("the derivatives that the model's file states are not those of its equations")


def _linked(contents: dict[str, bytes], wanted: Iterable[_Wanted]) -> dict[str, Any]:
    """For each kernel the library that has it: images are copied into memory, object files are linked by LLVM."""
    images = {key: image for key, content in contents.items() if (image := Image.from_bytes(content)) is not None}
    library = mapped(list(images.values())) if images else None
    if images and library is None:
        raise RuntimeError("Code cannot be mapped into memory.")
    found: dict[str, Any] = dict.fromkeys(images, library)
    rest = {key: content for key, content in contents.items() if key not in images}
    if rest:
        names = [name for one in wanted if one.key in rest for name in one.names]
        found |= dict.fromkeys(rest, _compiler().link(rest.values(), names))
    return found


class _How(Enum):
    HASTY = 0
    WELL = 1
    VECTORISED = 2  # several rows at once


def _how(one: _Wanted, many: bool) -> _How:
    from .emit import is_consecutive

    if is_consecutive(one.signs, one.template):
        return _How.VECTORISED
    return _How.HASTY if many and one.few else _How.WELL


@cache
def _compiler() -> _Compiler:
    return _Compiler()


class _Compiler:
    """LLVM for this processor."""

    def __init__(self) -> None:
        import llvmlite.binding as llvm

        self.llvm = llvm
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        target = llvm.Target.from_default_triple()
        processor, features = llvm.get_host_cpu_name(), llvm.get_host_cpu_features()
        settings = {"cpu": processor, "features": features.flatten(), "reloc": "pic", "codemodel": "default"}
        self.machine = target.create_target_machine(opt=2, **settings)
        self.hasty_machine = target.create_target_machine(opt=0, **settings)
        self.linker: Any = None
        self.header = f'target datalayout = "{self.machine.target_data}"\ntarget triple = "{self.machine.triple}"\n'
        self.fma = bool(features.get("fma", "x86" not in self.machine.triple))
        self.libraries = 0
        self.mappable = True

    def compiled(self, wanted: list[_Wanted]) -> dict[str, tuple[str, bytes]]:
        """Of each kernel the name under which it is kept, and its code."""
        from concurrent.futures import ThreadPoolExecutor

        many = len(wanted) > MANY
        found: dict[str, tuple[str, bytes]] = {}
        with ThreadPoolExecutor(1) as pool:  # compiling holds a lock of llvmlite's, but not the interpreter's
            running = [(batch, pool.submit(self._object, text, how)) for batch, how, text in self._batches(wanted, many)]
            for batch, code in running:
                names = [_in_haste(one.key) if many and one.few else one.key for one in batch]
                contents = self._contents(batch, code.result())
                found |= {one.key: (name, content) for one, name, content in zip(batch, names, contents, strict=True)}
        return found

    def _batches(self, wanted: list[_Wanted], many: bool) -> Iterator[tuple[list[_Wanted], _How, str]]:
        """Modules of some kernels each; one for each kernel where object files cannot be taken apart."""
        for how in _How:
            group = [one for one in wanted if _how(one, many) is how]
            size = BATCH if self.mappable else 1
            for k in range(0, len(group), size):
                batch = group[k : k + size]
                text = self._text(batch)
                if len(text) <= LARGEST_OPTIMISED:
                    yield batch, how, text
                    continue
                for one in batch:
                    alone = self._text([one])
                    yield [one], _How.HASTY if len(alone) > LARGEST_OPTIMISED else how, alone

    def _text(self, batch: list[_Wanted]) -> str:
        from .emit import emit_kernels  # whoever finds all kernels in the cache needs none of it

        for one in batch:
            _refuse_other_derivatives(one.template)  # they are formed here, while other kernels are compiled
        return self.header + emit_kernels([(one.template, one.signs, one.key) for one in batch], self.fma)

    def _object(self, text: str, how: _How) -> bytes:
        module = self.llvm.parse_assembly(text)
        if how is _How.HASTY:
            return bytes(self.hasty_machine.emit_object(module))
        if how is _How.VECTORISED:
            options = self.llvm.create_pipeline_tuning_options(speed_level=2)
            options.loop_vectorization = True
            whole = self.llvm.create_pass_builder(self.machine, options)
            whole.getModulePassManager().run(module, whole)
            return bytes(self.machine.emit_object(module))
        builder = self.llvm.create_pass_builder(self.machine, self.llvm.create_pipeline_tuning_options(speed_level=1))
        passes = self.llvm.create_new_function_pass_manager()
        passes.add_instruction_combine_pass()
        for function in module.functions:
            if not function.is_declaration:
                passes.run(function, builder)
        return bytes(self.machine.emit_object(module))

    def _contents(self, batch: list[_Wanted], code: bytes) -> list[bytes]:
        """What is kept of each kernel of a batch: its image, or an object file of its own."""
        images = images_of(code, {one.key: one.names for one in batch}) if self.mappable else None
        if images is not None:
            return [images[one.key].to_bytes() for one in batch]
        self.mappable = False
        return [code] if len(batch) == 1 else [self._object(self._text([one]), _How.WELL) for one in batch]

    def link(self, objects: Iterable[bytes], names: list[str]) -> Any:
        """One library for some object files. Names of functions hold the key, so that no two libraries clash."""
        self.linker = self.linker or self.llvm.create_lljit_compiler(self.machine, suppress_errors=True)
        builder = self.llvm.JITLibraryBuilder()
        for code in objects:
            builder.add_object_img(code)
        builder.add_current_process()  # the mathematical library
        for name in names:
            builder.export_symbol(name)
        self.libraries += 1
        return builder.link(self.linker, f"kernels{self.libraries}")
