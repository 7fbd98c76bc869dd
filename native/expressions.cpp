// Walks over expressions: the two loops in which a translation spends its time. `language/expression.py` has the same in Python,
// which says what they mean and stands in where there is no native core; tests/language/test_walks.py compares the two.
//
// A node is any object with a tuple `args`. Nodes are known by identity; those below a root live as long as it does, so that
// pointers to them are borrowed. Nothing is recursive: a sum of ten thousand terms is as deep as it is long.

#include <nanobind/nanobind.h>

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace {

using Stack = std::vector<std::pair<PyObject*, bool>>;

nb::tuple arguments(PyObject* node) {
    static PyObject* const name = PyUnicode_InternFromString("args");
    PyObject* found = PyObject_GetAttr(node, name);
    if (!found) {
        throw nb::python_error();
    }
    if (!PyTuple_CheckExact(found)) {
        Py_DECREF(found);
        throw nb::type_error("the arguments of a node are a tuple");
    }
    return nb::steal<nb::tuple>(found);
}

// Every node once, arguments before the nodes that use them.
nb::list walk(nb::tuple roots) {
    nb::list found;
    std::unordered_set<PyObject*> seen;
    Stack stack;
    for (Py_ssize_t k = PyTuple_GET_SIZE(roots.ptr()); k-- > 0;) {
        stack.emplace_back(PyTuple_GET_ITEM(roots.ptr(), k), false);
    }
    while (!stack.empty()) {
        auto [node, expanded] = stack.back();
        stack.pop_back();
        if (seen.count(node)) {
            continue;
        }
        nb::tuple args = expanded ? nb::tuple() : arguments(node);
        const Py_ssize_t count = expanded ? 0 : PyTuple_GET_SIZE(args.ptr());
        if (count == 0) {
            seen.insert(node);
            if (PyList_Append(found.ptr(), node)) {
                throw nb::python_error();
            }
            continue;
        }
        stack.emplace_back(node, true);
        for (Py_ssize_t k = count; k-- > 0;) {
            PyObject* argument = PyTuple_GET_ITEM(args.ptr(), k);
            if (!seen.count(argument)) {
                stack.emplace_back(argument, false);
            }
        }
    }
    return found;
}

class Replaced {
  public:
    Replaced(nb::callable leaf, nb::callable rebuild) : leaf_(std::move(leaf)), rebuild_(std::move(rebuild)) {}

    nb::object of(PyObject* root) {
        Stack stack{{root, false}};
        while (!stack.empty()) {
            auto [node, expanded] = stack.back();
            stack.pop_back();
            if (done_.count(node)) {
                continue;
            }
            nb::object found = expanded ? rebuilt(node) : call(leaf_, node);
            if (!found.is_none()) {
                done_.emplace(node, std::move(found));
                continue;
            }
            nb::tuple args = arguments(node);
            if (PyTuple_GET_SIZE(args.ptr()) == 0) {
                done_.emplace(node, nb::borrow(node));
                continue;
            }
            stack.emplace_back(node, true);
            for (Py_ssize_t k = PyTuple_GET_SIZE(args.ptr()); k-- > 0;) {
                stack.emplace_back(PyTuple_GET_ITEM(args.ptr(), k), false);
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
        nb::tuple args = arguments(node);
        const Py_ssize_t count = PyTuple_GET_SIZE(args.ptr());
        nb::object made = nb::steal(PyTuple_New(count));
        bool same = true;
        for (Py_ssize_t k = 0; k < count; ++k) {
            PyObject* argument = PyTuple_GET_ITEM(args.ptr(), k);
            PyObject* other = done_.at(argument).ptr();
            same = same && other == argument;
            Py_INCREF(other);
            PyTuple_SET_ITEM(made.ptr(), k, other);
        }
        return same ? nb::borrow(node) : rebuild_(nb::handle(node), made);
    }

    nb::callable leaf_, rebuild_;
    std::unordered_map<PyObject*, nb::object> done_;
};

nb::object transform(nb::handle root, nb::callable leaf, nb::callable rebuild) {
    return Replaced(std::move(leaf), std::move(rebuild)).of(root.ptr());
}

} // namespace

void bind_expressions(nb::module_& m) {
    using namespace nb::literals;
    m.def("walk", &walk, "roots"_a, "Every node below some roots once, arguments before the nodes that use them.");
    m.def("transform", &transform, "root"_a, "leaf"_a, "rebuild"_a,
          "A DAG rebuilt bottom-up: `leaf(node)` may replace a node, `rebuild(node, args)` makes one over other arguments.");
}
