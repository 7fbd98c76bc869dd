// Walks over expressions: the two loops in which a translation spends its time. `language/expression.py` has the same in Python,
// which says what they mean and stands in where there is no native core; tests/language/test_walks.py compares the two.
//
// Nodes are known by identity; those below a root live as long as it does, so that pointers to them are borrowed. Nothing is
// recursive: a sum of ten thousand terms is as deep as it is long.

#include "nodes.h"

#include <unordered_map>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

using Stack = std::vector<std::pair<PyObject*, bool>>;

using acausal::Node;

Node* node_of(PyObject* object) {
    if (!PyObject_TypeCheck(object, acausal::node_type())) {
        throw nb::attribute_error("what is walked over are nodes of expressions");
    }
    return reinterpret_cast<Node*>(object);
}

PyObject* arguments(PyObject* object) {
    PyObject* found = node_of(object)->args;
    if (!found || !PyTuple_CheckExact(found)) {
        throw nb::type_error("the arguments of a node are a tuple");
    }
    return found;
}

// Every node once, arguments before the nodes that use them. No Python runs here, so that one walk does not meet another's marks.
nb::list walk(nb::tuple roots) {
    static std::uint64_t walks = 0;
    const std::uint64_t own = ++walks;
    nb::list found;
    Stack stack;
    for (Py_ssize_t k = PyTuple_GET_SIZE(roots.ptr()); k-- > 0;) {
        stack.emplace_back(PyTuple_GET_ITEM(roots.ptr(), k), false);
    }
    while (!stack.empty()) {
        auto [node, expanded] = stack.back();
        stack.pop_back();
        if (node_of(node)->mark == own) {
            continue;
        }
        PyObject* args = arguments(node);
        const Py_ssize_t count = expanded ? 0 : PyTuple_GET_SIZE(args);
        if (count == 0) {
            node_of(node)->mark = own;
            if (PyList_Append(found.ptr(), node)) {
                throw nb::python_error();
            }
            continue;
        }
        stack.emplace_back(node, true);
        for (Py_ssize_t k = count; k-- > 0;) {
            PyObject* argument = PyTuple_GET_ITEM(args, k);
            if (node_of(argument)->mark != own) {
                stack.emplace_back(argument, false);
            }
        }
    }
    return found;
}

// What a walk meets that is neither a constant nor a plain operation: leaves, calls, sums.
nb::list leaves(nb::tuple roots) {
    nb::list found;
    for (nb::handle node : walk(std::move(roots))) {
        if (!acausal::is_constant(node.ptr()) && !acausal::is_operation(node.ptr())) {
            found.append(node);
        }
    }
    return found;
}

class Replaced {
  public:
    Replaced(nb::callable leaf, nb::callable rebuild, bool simplify)
        : leaf_(std::move(leaf)), rebuild_(std::move(rebuild)), simplify_(simplify) {}

    nb::object of(PyObject* root) {
        Stack stack{{root, false}};
        while (!stack.empty()) {
            auto [node, expanded] = stack.back();
            stack.pop_back();
            if (done_.count(node)) {
                continue;
            }
            const bool rest = acausal::is_operation(node) || acausal::is_constant(node);
            const bool asked = simplify_ || !rest; // who renames leaves has nothing to say of the rest
            nb::object found = expanded ? rebuilt(node) : asked ? call(leaf_, node) : nb::none();
            if (!found.is_none()) {
                done_.emplace(node, std::move(found));
                continue;
            }
            PyObject* args = arguments(node);
            if (PyTuple_GET_SIZE(args) == 0) {
                done_.emplace(node, nb::borrow(node));
                continue;
            }
            stack.emplace_back(node, true);
            for (Py_ssize_t k = PyTuple_GET_SIZE(args); k-- > 0;) {
                stack.emplace_back(PyTuple_GET_ITEM(args, k), false);
            }
        }
        return done_.at(root);
    }

  private:
    static nb::object call(const nb::callable& function, PyObject* node) {
        PyObject* found = PyObject_CallOneArg(function.ptr(), node);
        if (!found) {
            throw nb::python_error();
        }
        return nb::steal(found);
    }

    nb::object rebuilt(PyObject* node) {
        PyObject* args = arguments(node);
        const Py_ssize_t count = PyTuple_GET_SIZE(args);
        nb::object made = nb::steal(PyTuple_New(count));
        bool same = true;
        for (Py_ssize_t k = 0; k < count; ++k) {
            PyObject* argument = PyTuple_GET_ITEM(args, k);
            PyObject* other = done_.at(argument).ptr();
            same = same && other == argument;
            Py_INCREF(other);
            PyTuple_SET_ITEM(made.ptr(), k, other);
        }
        if (same) {
            return nb::borrow(node);
        }
        if (PyObject* op = node_of(node)->operation) {
            return simplify_ ? acausal::simplified(op, made) : acausal::operation(op, made);
        }
        return rebuild_(nb::handle(node), made);
    }

    nb::callable leaf_, rebuild_;
    bool simplify_;
    std::unordered_map<PyObject*, nb::object> done_;
};

nb::object transform(nb::handle root, nb::callable leaf, nb::callable rebuild, bool simplify) {
    return Replaced(std::move(leaf), std::move(rebuild), simplify).of(root.ptr());
}

} // namespace

nb::list acausal::walked(nb::tuple roots) { return walk(std::move(roots)); }

void bind_expressions(nb::module_& m) {
    using namespace nb::literals;
    m.def("walk", &walk, "roots"_a, "Every node below some roots once, arguments before the nodes that use them.");
    m.def("leaves", &leaves, "roots"_a, "Of these, those that are neither constants nor plain operations, in the same order.");
    m.def("transform", &transform, "root"_a, "leaf"_a, "rebuild"_a, "simplify"_a = true,
          "A DAG rebuilt bottom-up: `leaf(node)` may replace a node; operations over other arguments are made here, in their simplest "
          "form if that is wanted, and `rebuild(node, args)` makes whatever else has arguments. Where nothing is simplified, `leaf` "
          "is not asked about operations and constants.");
}
