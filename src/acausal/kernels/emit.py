"""Templates to LLVM IR: one loop over the rows of a family, every distinct sub-expression computed once a row.

The text is written directly. Expressions are interned, so a dictionary from node to register is all the bookkeeping needed, and
writing lines is several times cheaper than building them through `llvmlite.ir`.

The calling convention (w = [y | y' | known]; tables are C-contiguous, one line per slot, output or entry):

    void residual(const double *w, double *out, const int32_t *slots, const int32_t *rows, int64_t n, void *const *functions);
    void jacobian(const double *w, double cj, double *jac, const int32_t *slots, const int32_t *positions, int64_t n,
                  void *const *functions);

Both accumulate: `out[rows[k*n + row]] += …`, `jac[positions[e*n + row]] += …`.

No fast-math flag is given: the order of operations is the modeller's. Where the processor can, a product that is only added to
something is added in one rounding, and which products these are is decided here, not by the compiler; functions of the mathematical
library are called as they are. So the same model gives the same numbers on the same machine, however well its code is optimised.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain

from ..families.needs import Need, needs
from ..families.template import MINUS, MIXED, PLUS, REPEATED, SIGNS, Template
from ..language.expression import Call, Constant, Expression, Operation, Slot, leaves, walk

Emitter = Callable[["Row", Operation], str]

LIBM = ("pow", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")  # called by name; the rest are LLVM's intrinsics
_LARGEST_EXPANDED_POWER = 16.0


def emit_kernel(template: Template, signs: tuple[int, ...], key: str, fma: bool = True) -> str:
    """The module of one kernel: `residual_<key>` and, if there is anything to differentiate, `jacobian_<key>`. `fma`: whether the
    processor adds a product in one rounding."""
    return emit_kernels([(template, signs, key)], fma)


def emit_kernels(wanted: Iterable[tuple[Template, tuple[int, ...], str]], fma: bool = True) -> str:
    """The module of several kernels; what is done once for a module costs as much as a small kernel."""
    declarations: set[str] = set()
    parts: list[str] = []
    for template, signs, key in wanted:
        parts.append(_residual(template, signs, f"residual_{key}", declarations, fma))
        if template.jacobian:
            parts.append(_jacobian(template, signs, f"jacobian_{key}", declarations, fma))
    return "".join([*parts, *sorted(declarations), _ATTRIBUTES])


_ATTRIBUTES = """
attributes #0 = { nounwind }
attributes #1 = { nounwind willreturn memory(none) }
attributes #2 = { nounwind willreturn memory(none) nobuiltin }
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.vectorize.enable", i1 false}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.vectorize.enable", i1 true}
"""  # where rows accumulate through a table, no two of them are known to be independent: do not even try to vectorise over them


def is_consecutive(signs: tuple[int, ...], template: Template) -> bool:
    """Whether rows follow each other in memory (`Family.access`), so that several are computed at once."""
    return len(signs) > len(template.slots)


def _residual(template: Template, signs: tuple[int, ...], name: str, declarations: set[str], fma: bool) -> str:
    row = Row(template, signs, declarations, "%rows")
    row.consecutive = is_consecutive(signs, template)
    row.compute(*template.outputs, once=fma)
    for k, output in enumerate(template.outputs):
        row.accumulate(k, output)
    return row.function(name, "ptr noalias nonnull %target")


def _jacobian(template: Template, signs: tuple[int, ...], name: str, declarations: set[str], fma: bool) -> str:
    row = Row(template, signs, declarations, "%positions")
    kinds = {s.number: s for s in template.slots}
    row.compute(*(g for _, _, g in template.jacobian if not isinstance(g, Constant)), once=fma)
    for e, (_, number, derivative) in enumerate(template.jacobian):
        row.accumulate(e, derivative, kinds[number])
    return row.function(name, "double %cj, ptr noalias nonnull %target")


class Row:
    """The code of one row, as it grows, and of what is done once before the first row."""

    def __init__(self, template: Template, signs: tuple[int, ...], declarations: set[str], table: str) -> None:
        self.signs = [sign & SIGNS for sign in signs]
        self.steps = [sign & ~SIGNS for sign in signs]
        self.consecutive = False  # whether results go to places that follow each other
        self.declarations = declarations
        self.table = table  # where results go: `%rows` or `%positions`
        self.places = {id(f): k for k, f in enumerate(template.functions)}
        self.before: list[str] = []  # code outside the loop
        self.lines: list[str] = []  # code inside it
        self.numbers: dict[Expression, str] = {}  # node -> register or literal of type double
        self.truths: dict[Expression, str] = {}  # node -> register of type i1
        self.once: dict[str, str] = {}  # code outside the loop -> its register
        self.indices: dict[int, str] = {}  # slot -> register with its i64 index
        self.evaluated: dict[tuple[int, tuple[Expression, ...]], str] = {}  # functions with several results -> where these are
        self.products: set[Expression] = set()  # that are computed where they are added to something
        self.needs: dict[Expression, Need] = {}  # when a node's value matters
        self.one_by_one = False  # whether it calls what takes one number: rows are not computed several at once
        self.block = "loop"  # the label under which lines are being written
        self.count = 0

    # --- registers ------------------------------------------------------------------------------------------------------
    def add(self, code: str) -> str:
        """A new register holding the result of `code`, within the row."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {code}\n")
        return f"%v{self.count}"

    def hoist(self, code: str) -> str:
        """The same, computed once before the first row."""
        if code not in self.once:
            self.count += 1
            self.before.append(f"  %h{self.count} = {code}\n")
            self.once[code] = f"%h{self.count}"
        return self.once[code]

    def number(self, node: Expression) -> str:
        """The node's value as a double."""
        found = self.numbers.get(node)
        if found is None:
            if isinstance(node, Constant):
                found = _literal(node.value)
            else:
                found = self.add(f"select i1 {self.truths[node]}, double {_literal(1.0)}, double {_literal(0.0)}")
            self.numbers[node] = found
        return found

    def truth(self, node: Expression) -> str:
        """The node's value as a condition: everything but zero is true, as in numpy."""
        found = self.truths.get(node)
        if found is None:
            found = self.truths[node] = self.add(f"fcmp une double {self.number(node)}, {_literal(0.0)}")
        return found

    # --- nodes ----------------------------------------------------------------------------------------------------------
    def compute(self, *roots: Expression, once: bool) -> None:
        """Everything below some roots. `once`: products are added in one rounding."""
        nodes = list(walk(*roots))
        if once:
            self.products = _only_added(nodes, roots)
        if any(isinstance(node, Call) for node in leaves(*roots)):
            self.needs, self.one_by_one = needs(nodes, roots), True
        for node in nodes:
            if node in self.products:
                continue
            if isinstance(node, Operation):
                if node.operator.logical:
                    self.truths[node] = EMITTERS[node.operator.name](self, node)
                else:
                    self.numbers[node] = EMITTERS[node.operator.name](self, node)
            elif isinstance(node, Slot):
                self.numbers[node] = self.gather(node)
            elif isinstance(node, Call):
                self.numbers[node] = self.call(node)
            else:
                assert isinstance(node, Constant), f"{type(node).__name__} does not stand in templates"

    def index(self, slot: int) -> str:
        """What the index table says for a slot, sign and all."""
        if slot not in self.indices:
            self.indices[slot] = self._entry_of_table("%slots", slot)
        return self.indices[slot]

    def gather(self, slot: Slot) -> str:
        if step := self.steps[slot.number]:
            first = self._first_cell("%w", "%slots", slot.number)
            if step == REPEATED:
                value = self.hoist(f"load double, ptr {first}, align 8")
            else:
                value = self.add(f"load double, ptr {self.add(f'getelementptr inbounds double, ptr {first}, i64 %row')}, align 8")
            return self._signed(value, slot)
        place = self.index(slot.number)
        if self.signs[slot.number] == MIXED:
            place = self.add(f"xor i64 {place}, {self.add(f'ashr i64 {place}, 63')}")  # ~i where i is negative
        value = self.add(f"load double, ptr {self.add(f'getelementptr inbounds double, ptr %w, i64 {place}')}, align 8")
        return self._signed(value, slot)

    def _signed(self, value: str, slot: Slot) -> str:
        """`value` with the slot's sign; where it differs from row to row, it is the top bit of the index: no branch, no choice."""
        sign = self.signs[slot.number]
        if sign == MINUS:
            return self.add(f"fneg double {value}")
        if sign == MIXED:
            top = self.add(f"and i64 {self.index(slot.number)}, {-(2**63)}")
            bits = self.add(f"bitcast double {value} to i64")
            return self.add(f"bitcast i64 {self.add(f'xor i64 {bits}, {top}')} to double")
        return value

    def call(self, node: Call) -> str:
        evaluation = node.function.evaluation
        code, data = (2 * self.places[id(evaluation)] + k for k in (0, 1))
        address = self._function_pointer(code)
        if evaluation is not node.function:
            return self._part(node, address, data)
        arguments = [f"double {self.number(a)}" for a in node.args]
        if node.function.data_address:
            arguments.insert(0, f"ptr {self._function_pointer(data)}")
        return self.add(f"call double {address}({', '.join(arguments)}) #0")

    def _part(self, node: Call, address: str, data: int) -> str:
        """One of several results; the function is called for the first of them."""
        evaluation = node.function.evaluation
        key = (id(evaluation), node.args)
        if key not in self.evaluated:
            arguments, results = (self._buffer(n) for n in (evaluation.arity, evaluation.outputs))
            for k, argument in enumerate(node.args):
                self.lines.append(f"  store double {self.number(argument)}, ptr {self._element(arguments, k)}, align 8\n")
            given = [f"ptr {pointer}" for pointer in (self._function_pointer(data), arguments, results)]
            if evaluation.passing:
                given = [self._passed(way, node, arguments, results) for way in evaluation.passing]
            self._where_needed(node, f"  call void {address}({', '.join(given)}) #0\n")
            self.evaluated[key] = results
        return self.add(f"load double, ptr {self._element(self.evaluated[key], node.function.place)}, align 8")

    def _passed(self, way: str, node: Call, arguments: str, results: str) -> str:
        """What a machine argument is: a number, or a pointer to arguments or results."""
        k = int(way[1:])
        if way[0] == "v":
            return f"double {self.number(node.args[k])}"
        return f"ptr {self._element(arguments if way[0] == 'a' else results, k)}"

    def _where_needed(self, node: Call, line: str) -> None:
        """A line for rows in which its outcome matters; in others what it would have written is read, but not used."""
        need = self.needs[node]
        if need is None:
            self.lines.append(line)
            return
        condition, wanted = need
        if condition not in self.numbers:
            self.numbers[condition] = self.gather(condition)
        truth = self.truth(condition)
        self.count += 1
        made, self.block = f"made{self.count}", f"after{self.count}"
        ways = (made, self.block) if wanted else (self.block, made)
        self.lines.append(f"  br i1 {truth}, label %{ways[0]}, label %{ways[1]}\n")
        self.lines.append(f"{made}:\n{line}  br label %{self.block}\n{self.block}:\n")

    def _buffer(self, length: int) -> str:
        self.count += 1
        self.before.append(f"  %h{self.count} = alloca [{length} x double], align 64\n")
        return f"%h{self.count}"

    def _element(self, buffer: str, k: int) -> str:
        return buffer if k == 0 else self.hoist(f"getelementptr inbounds double, ptr {buffer}, i64 {k}")

    def _function_pointer(self, place: int) -> str:
        cell = self.hoist(f"getelementptr inbounds ptr, ptr %functions, i64 {place}")
        return self.hoist(f"load ptr, ptr {cell}, align 8")

    def intrinsic(self, name: str, *arguments: str) -> str:
        """Call a mathematical function, LLVM's own or the library's."""
        attributes = "#1" if name.startswith("llvm.") else "#2"  # the compiler may not know better: pow(2, x) is not exp2(x)
        self.one_by_one |= not name.startswith("llvm.")
        self.declarations.add(f"declare double @{name}({', '.join('double' for _ in arguments)}) {attributes}\n")
        return self.add(f"call double @{name}({', '.join(f'double {a}' for a in arguments)}) {attributes}")

    def sum(self, a: str | Operation, b: str) -> str:
        """`a + b`; a product is added in one rounding."""
        if isinstance(a, str):
            return self.add(f"fadd double {a}, {b}")
        return self.intrinsic("llvm.fma.f64", *(self.number(factor) for factor in a.args), b)

    # --- results --------------------------------------------------------------------------------------------------------
    def entry(self, slot: Slot, derivative: Expression) -> str:
        """An entry of the Jacobian: the derivative by what sits in `w`, times cj where that is a time derivative."""
        sign = self.signs[slot.number]
        if isinstance(derivative, Constant) and sign != MIXED:
            constant = _literal(-derivative.value if sign == MINUS else derivative.value)
            return self.hoist(f"fmul double %cj, {constant}") if slot.kind == "derivative" else constant
        value = self.product(derivative)
        if slot.kind == "derivative":
            scaled = f"fmul double %cj, {value}"
            value = self.hoist(scaled) if isinstance(derivative, Constant) else self.add(scaled)
        return self._signed(value, slot)

    def product(self, node: Expression) -> str:
        """The value of a node that was left for its sum, after all."""
        if node in self.products:
            self.products.discard(node)
            self.numbers[node] = EMITTERS["mul"](self, node)  # type: ignore[arg-type]
        return self.number(node)

    def accumulate(self, place: int, node: Expression, slot: Slot | None = None) -> None:
        """Add to a residual, or to the entry of the Jacobian for a slot."""
        plain = slot is None or (slot.kind != "derivative" and self.signs[slot.number] == PLUS)
        value: str | Operation
        if plain and node in self.products:
            assert isinstance(node, Operation)
            value = node
        else:
            value = self.number(node) if slot is None else self.entry(slot, node)
        if self.consecutive:
            cell = self.add(f"getelementptr inbounds double, ptr {self._first_cell('%target', self.table, place)}, i64 %row")
        else:
            cell = self.add(f"getelementptr inbounds double, ptr %target, i64 {self._entry_of_table(self.table, place)}")
        total = self.sum(value, self.add(f"load double, ptr {cell}, align 8"))
        self.lines.append(f"  store double {total}, ptr {cell}, align 8\n")

    def _first_cell(self, array: str, table: str, line: int) -> str:
        """Where the first row of a line of the table points."""
        number = self.hoist(f"load i32, ptr {self._line_of_table(table, line)}, align 4")
        return self.hoist(f"getelementptr inbounds double, ptr {array}, i64 {self.hoist(f'sext i32 {number} to i64')}")

    def _line_of_table(self, table: str, line: int) -> str:
        if not line:
            return table
        offset = "%n" if line == 1 else self.hoist(f"mul nuw nsw i64 %n, {line}")
        return self.hoist(f"getelementptr inbounds i32, ptr {table}, i64 {offset}")

    def _entry_of_table(self, table: str, line: int) -> str:
        start = self._line_of_table(table, line)
        cell = self.add(f"getelementptr inbounds i32, ptr {start}, i64 %row")
        return self.add(f"sext i32 {self.add(f'load i32, ptr {cell}, align 4')} to i64")

    def function(self, name: str, target: str) -> str:
        return (
            f"define void @{name}(ptr noalias nonnull readonly %w, {target}, ptr noalias readonly %slots, "
            f"ptr noalias readonly {self.table}, i64 %n, ptr noalias readonly %functions) #0 {{\n"
            "  %some = icmp sgt i64 %n, 0\n  br i1 %some, label %before, label %end\n"
            f"before:\n{''.join(self.before)}  br label %loop\n"
            f"loop:\n  %row = phi i64 [ 0, %before ], [ %next, %{self.block} ]\n{''.join(self.lines)}"
            "  %next = add nuw nsw i64 %row, 1\n  %done = icmp eq i64 %next, %n\n"
            f"  br i1 %done, label %end, label %loop, !llvm.loop {'!2' if self.consecutive and not self.one_by_one else '!0'}\n"
            "end:\n  ret void\n}\n"
        )


def _literal(value: float) -> str:
    return f"0x{struct.pack('>d', value).hex().upper()}"


def _only_added(nodes: list[Expression], roots: tuple[Expression, ...]) -> set[Expression]:
    """Products with a single use, which is to be added to something, or to the result. Of two in a sum, the first."""
    uses = Counter(chain(roots, chain.from_iterable(node.args for node in nodes)))
    found = {root for root in roots if _is_product(root) and uses[root] == 1}
    for node in nodes:
        if isinstance(node, Operation) and node.operator.name in ("add", "sub"):
            single = [a for a in node.args if _is_product(a) and uses[a] == 1]
            found.update(single[:1])
    return found


def _is_product(node: Expression) -> bool:
    return isinstance(node, Operation) and node.operator.name == "mul"


# --- operators ----------------------------------------------------------------------------------------------------------
def _arithmetic(instruction: str) -> Emitter:
    return lambda row, node: row.add(f"{instruction} double {', '.join(row.number(a) for a in node.args)}")


def _add(row: Row, node: Operation) -> str:
    a, b = node.args
    if b in row.products:
        a, b = b, a
    return row.sum(a if a in row.products else row.number(a), row.number(b))  # type: ignore[arg-type]


def _sub(row: Row, node: Operation) -> str:
    a, b = node.args
    if a in row.products:  # x y - b
        return row.sum(a, row.add(f"fneg double {row.number(b)}"))  # type: ignore[arg-type]
    if b in row.products:  # a - x y
        minus = row.add(f"fneg double {row.number(b.args[0])}")
        return row.intrinsic("llvm.fma.f64", minus, row.number(b.args[1]), row.number(a))
    return row.add(f"fsub double {row.number(a)}, {row.number(b)}")


def _intrinsic(name: str) -> Emitter:
    return lambda row, node: row.intrinsic(name, *(row.number(a) for a in node.args))


def _relation(predicate: str) -> Emitter:
    return lambda row, node: row.add(f"fcmp {predicate} double {row.number(node.args[0])}, {row.number(node.args[1])}")


def _connective(instruction: str) -> Emitter:
    return lambda row, node: row.add(f"{instruction} i1 {row.truth(node.args[0])}, {row.truth(node.args[1])}")


def _not(row: Row, node: Operation) -> str:
    return row.add(f"xor i1 {row.truth(node.args[0])}, true")


def _finite(row: Row, node: Operation) -> str:
    value = row.number(node.args[0])
    return row.add(f"fcmp oeq double {row.add(f'fsub double {value}, {value}')}, {_literal(0.0)}")


def _where(row: Row, node: Operation) -> str:
    condition, a, b = node.args
    return row.add(f"select i1 {row.truth(condition)}, double {row.number(a)}, double {row.number(b)}")


def _extremum(predicate: str) -> Emitter:
    """As numpy's, it lets "not a number" through. Half the instructions of `llvm.minimum`, which orders signed zeros too."""

    def emit(row: Row, node: Operation) -> str:
        a, b = (row.number(argument) for argument in node.args)
        chosen = row.add(f"select i1 {row.add(f'fcmp {predicate} double {a}, {b}')}, double {a}, double {b}")  # b, if it is nan
        return row.add(f"select i1 {row.add(f'fcmp uno double {a}, {_literal(0.0)}')}, double {a}, double {chosen}")

    return emit


def _sign(row: Row, node: Operation) -> str:
    a, zero = row.number(node.args[0]), _literal(0.0)
    rest = row.add(f"fadd double {a}, {zero}")  # what is neither above nor below: zero without its sign, or not a number
    below = row.add(f"select i1 {row.add(f'fcmp olt double {a}, {zero}')}, double {_literal(-1.0)}, double {rest}")
    return row.add(f"select i1 {row.add(f'fcmp ogt double {a}, {zero}')}, double {_literal(1.0)}, double {below}")


def _is_multiplied_out(exponent: float) -> bool:
    return 0 < abs(exponent) <= _LARGEST_EXPANDED_POWER and (4 * exponent) % 1 == 0


def _power(row: Row, node: Operation) -> str:
    """Whole exponents, halves and quarters are multiplied out, which is many times cheaper than the library's `pow`."""
    base, exponent = row.number(node.args[0]), node.args[1]
    if not isinstance(exponent, Constant) or not _is_multiplied_out(exponent.value):
        return row.intrinsic("pow", base, row.number(exponent))
    whole, quarters = divmod(int(4 * abs(exponent.value)), 4)
    factors = _roots(row, base, quarters)
    while whole:
        if whole % 2:
            factors.append(base)
        whole //= 2
        if whole:
            base = row.add(f"fmul double {base}, {base}")
    product = factors[0]
    for factor in factors[1:]:
        product = row.add(f"fmul double {product}, {factor}")
    return product if exponent.value > 0 else row.add(f"fdiv double {_literal(1.0)}, {product}")


def _roots(row: Row, base: str, quarters: int) -> list[str]:
    """The square root and the fourth root, as far as so many quarters of an exponent are made of them."""
    if not quarters:
        return []
    square = row.intrinsic("llvm.sqrt.f64", base)
    fourth = [row.intrinsic("llvm.sqrt.f64", square)] if quarters % 2 else []
    return [square, *fourth] if quarters > 1 else fourth


EMITTERS: dict[str, Emitter] = {
    "add": _add,
    "sub": _sub,
    "mul": _arithmetic("fmul"),
    "div": _arithmetic("fdiv"),
    "neg": _arithmetic("fneg"),
    "pow": _power,
    "sqrt": _intrinsic("llvm.sqrt.f64"),
    "exp": _intrinsic("llvm.exp.f64"),
    "log": _intrinsic("llvm.log.f64"),
    "log10": _intrinsic("llvm.log10.f64"),
    "sin": _intrinsic("llvm.sin.f64"),
    "cos": _intrinsic("llvm.cos.f64"),
    **{name: _intrinsic(name) for name in LIBM if name != "pow"},
    "abs": _intrinsic("llvm.fabs.f64"),
    "sign": _sign,
    "floor": _intrinsic("llvm.floor.f64"),
    "ceil": _intrinsic("llvm.ceil.f64"),
    "min": _extremum("olt"),
    "max": _extremum("ogt"),
    "lt": _relation("olt"),
    "le": _relation("ole"),
    "gt": _relation("ogt"),
    "ge": _relation("oge"),
    "eq": _relation("oeq"),
    "and": _connective("and"),
    "or": _connective("or"),
    "not": _not,
    "finite": _finite,
    "where": _where,
}
