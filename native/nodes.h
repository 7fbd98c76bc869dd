// Nodes of expressions as the core sees them: the object that `language/expression.py` builds its classes on.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>

namespace acausal {

struct Node {
    PyObject_HEAD;
    PyObject* shape;     // a tuple
    PyObject* args;      // a tuple, empty for leaves
    PyObject* operation; // the operator; null for what is no operation
    std::size_t hash;    // of an operation that stands in the table
    std::uint64_t mark;  // the last walk that came by
    bool kept;           // whether the table has it
};

PyTypeObject* node_type();

// The node of an operation on a tuple of nodes, made if there is none.
nanobind::object operation(PyObject* op, nanobind::handle args);

// The same in its simplest form.
nanobind::object simplified(PyObject* op, nanobind::handle args);

// What the language calls a constant, an operation of the plain sort, a call of a function, and a sum over axes.
bool is_constant(PyObject* node);
bool is_operation(PyObject* node);
bool is_call(PyObject* node);
bool is_sum(PyObject* node);
nanobind::object constant(double value);
nanobind::object call(nanobind::handle function, nanobind::handle args);
nanobind::object sum(nanobind::handle argument, nanobind::handle axes);

// Every node below some roots once, arguments before the nodes that use them.
nanobind::list walked(nanobind::tuple roots);

} // namespace acausal
