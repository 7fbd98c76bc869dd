// The table of operations: two that are equal are one object. `language/expression.py` says what a node is, and has the same in
// Python for where there is no native core; tests/language/test_walks.py compares the two.
//
// The table does not own what stands in it: a node leaves it when it dies. A node that is dying has no references left, and is not
// given out again. Operations of operations are no cycles, so that the collector of garbage has nothing to clear in them: what may
// be part of a cycle (the component in a reference) stands in leaves, which Python interns by weak references.

#include "nodes.h"

#include <structmember.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <unordered_map>

namespace nb = nanobind;

namespace acausal {
namespace {

std::unordered_multimap<std::size_t, Node*>& table() {
    static auto* const found = new std::unordered_multimap<std::size_t, Node*>(); // nodes may outlive everything else
    return *found;
}

std::size_t mixed(std::size_t seed, const void* pointer) {
    std::size_t value = reinterpret_cast<std::uintptr_t>(pointer) >> 4;
    value *= 0x9e3779b97f4a7c15ull;
    return (seed ^ (value >> 29) ^ value) * 0xbf58476d1ce4e5b9ull;
}

PyObject* make(PyTypeObject* cls, PyObject*, PyObject*) {
    PyObject* made = cls->tp_alloc(cls, 0);
    if (made) {
        auto* node = reinterpret_cast<Node*>(made);
        node->shape = PyTuple_New(0);
        node->args = PyTuple_New(0);
    }
    return made;
}

void forget(Node* node) {
    auto [first, last] = table().equal_range(node->hash);
    auto place = std::find_if(first, last, [node](const auto& entry) { return entry.second == node; });
    if (place != last) {
        table().erase(place);
    }
    node->kept = false;
}

void destroy(PyObject* object) {
    PyObject_GC_UnTrack(object);
    auto* node = reinterpret_cast<Node*>(object);
    if (node->kept) {
        forget(node);
    }
    PyTypeObject* type = Py_TYPE(object);
    Py_CLEAR(node->args);
    Py_CLEAR(node->shape);
    Py_CLEAR(node->operation);
    type->tp_free(object);
    Py_DECREF(type);
}

int traverse(PyObject* object, visitproc visit, void* arg) {
    auto* node = reinterpret_cast<Node*>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(node->args);
    Py_VISIT(node->operation);
    return 0;
}

PyMemberDef members[] = {
    {"shape", T_OBJECT_EX, offsetof(Node, shape), 0, "as of a numpy array"},
    {"args", T_OBJECT_EX, offsetof(Node, args), 0, "what the node is made of"},
    {"operator", T_OBJECT_EX, offsetof(Node, operation), 0, "what is done to the arguments"},
    {nullptr, 0, 0, 0, nullptr},
};

PyType_Slot slots[] = {
    {Py_tp_new, reinterpret_cast<void*>(make)},
    {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
    {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
    {Py_tp_members, members},
    {0, nullptr},
};

PyType_Spec spec = {"acausal._core.Node", sizeof(Node), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

// What the language says about its nodes; it stays for the life of the process.
enum Word { OPERATION, SHAPE_OF, CONSTANT, LITERAL, NEG, SUB, WHERE, CALL, SUM, BY_RULES, WORDS };
std::array<PyObject*, WORDS> words{};

nb::handle language(Word word) {
    if (!words[word]) {
        throw std::runtime_error("the language has not said what its nodes are");
    }
    return words[word];
}

void learn(nb::tuple given) {
    if (nb::len(given) != WORDS) {
        throw nb::value_error("the language has another number of words");
    }
    for (std::size_t k = 0; k < WORDS; ++k) {
        Py_XSETREF(words[k], Py_NewRef(nb::handle(given[k]).ptr()));
    }
}

// Whether no rule of `language/simplify.py` has anything to say: they look for numbers, for minus signs, for choices, and for
// arguments that are the same.
bool is_simple(PyObject* op, PyObject* args) {
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    for (Py_ssize_t k = 0; k < count; ++k) {
        PyObject* one = PyTuple_GET_ITEM(args, k);
        auto* type = reinterpret_cast<PyObject*>(Py_TYPE(one));
        if (type == words[CONSTANT] || type == words[LITERAL] || !PyObject_TypeCheck(one, node_type())) {
            return false;
        }
        PyObject* inner = reinterpret_cast<Node*>(one)->operation;
        if (inner && (inner == words[NEG] || inner == words[WHERE] || (inner == words[SUB] && op == words[NEG]))) {
            return false;
        }
        if (k > 0 && one == PyTuple_GET_ITEM(args, k - 1) && (op == words[SUB] || op == words[WHERE])) {
            return false;
        }
    }
    return true;
}

bool is_same(const Node* node, PyObject* op, PyObject* args) {
    if (Py_REFCNT(node) <= 0 || node->operation != op || !node->args) {
        return false;
    }
    const Py_ssize_t count = PyTuple_GET_SIZE(args);
    if (PyTuple_GET_SIZE(node->args) != count) {
        return false;
    }
    for (Py_ssize_t k = 0; k < count; ++k) {
        if (PyTuple_GET_ITEM(node->args, k) != PyTuple_GET_ITEM(args, k)) {
            return false;
        }
    }
    return true;
}

bool are_scalars(PyObject* args) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); ++k) {
        PyObject* one = PyTuple_GET_ITEM(args, k);
        if (!PyObject_TypeCheck(one, node_type())) {
            throw nb::type_error("the arguments of an operation are nodes");
        }
        PyObject* shape = reinterpret_cast<Node*>(one)->shape;
        if (!shape || !PyTuple_CheckExact(shape) || PyTuple_GET_SIZE(shape) != 0) {
            return false;
        }
    }
    return true;
}

Node* found(std::size_t hash, PyObject* op, PyObject* args) {
    auto [first, last] = table().equal_range(hash);
    for (auto place = first; place != last; ++place) {
        if (is_same(place->second, op, args)) {
            return place->second;
        }
    }
    return nullptr;
}

} // namespace

PyTypeObject* node_type() {
    static auto* const type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
    if (!type) {
        throw nb::python_error();
    }
    return type;
}

nb::object operation(PyObject* op, nb::handle args) {
    std::size_t hash = mixed(0, op);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args.ptr()); ++k) {
        hash = mixed(hash, PyTuple_GET_ITEM(args.ptr(), k));
    }
    if (Node* known = found(hash, op, args.ptr())) {
        return nb::borrow(reinterpret_cast<PyObject*>(known));
    }
    nb::object shape = are_scalars(args.ptr()) ? nb::object() : language(SHAPE_OF)(nb::handle(op), args);
    nb::object made = nb::steal(make(reinterpret_cast<PyTypeObject*>(language(OPERATION).ptr()), nullptr, nullptr));
    if (!made.is_valid()) {
        throw nb::python_error();
    }
    if (Node* known = found(hash, op, args.ptr())) { // what ran meanwhile may have made it
        return nb::borrow(reinterpret_cast<PyObject*>(known));
    }
    auto* node = reinterpret_cast<Node*>(made.ptr());
    Py_SETREF(node->args, Py_NewRef(args.ptr()));
    node->operation = Py_NewRef(op);
    if (shape.is_valid()) {
        Py_SETREF(node->shape, Py_NewRef(shape.ptr()));
    }
    node->hash = hash;
    table().emplace(hash, node);
    node->kept = true;
    return made;
}

bool is_constant(PyObject* node) { return reinterpret_cast<PyObject*>(Py_TYPE(node)) == words[CONSTANT]; }

bool is_operation(PyObject* node) { return reinterpret_cast<PyObject*>(Py_TYPE(node)) == words[OPERATION]; }

bool is_call(PyObject* node) { return reinterpret_cast<PyObject*>(Py_TYPE(node)) == words[CALL]; }

bool is_sum(PyObject* node) { return reinterpret_cast<PyObject*>(Py_TYPE(node)) == words[SUM]; }

nb::object constant(double value) { return language(CONSTANT)(value); }

nb::object call(nb::handle function, nb::handle args) { return language(CALL)(function, args); }

nb::object sum(nb::handle argument, nb::handle axes) { return language(SUM)(argument, axes); }

nb::object simplified(PyObject* op, nb::handle args) {
    return is_simple(op, args.ptr()) ? operation(op, args) : language(BY_RULES)(nb::handle(op), args);
}

} // namespace acausal

void bind_nodes(nb::module_& m) {
    using namespace nb::literals;
    m.attr("Node") = nb::borrow(reinterpret_cast<PyObject*>(acausal::node_type()));
    m.def(
        "learn_language", [](nb::tuple words) { acausal::learn(words); }, "words"_a,
        "What nodes are made of: the class of operations, their shape, constants, literals, neg, sub, where, the rules.");
    m.def(
        "operation", [](nb::handle op, nb::tuple args) { return acausal::operation(op.ptr(), args); }, "operator"_a, "args"_a,
        "The one node of an operator and its arguments.");
    m.def(
        "simplified", [](nb::handle op, nb::tuple args) { return acausal::simplified(op.ptr(), args); }, "operator"_a, "args"_a,
        "The node of an operator and its arguments in its simplest form.");
}
