// Expressions as bytes, and back: the form in which what a class contributes is hashed and kept on disk. `language/nodes.py` has the
// same in Python; tests/language/test_walks.py compares the two.
//
// Nodes stand in the order of a walk, so that arguments come before what uses them, each as a number that says what it is:
// CONSTANT and eight bytes, OBJECT (whatever is none of the others; the caller says what it is) and its number, OPERATION with its
// operator and the numbers of its arguments, CALL with the number of its function, which is among the objects, and those of its
// arguments, SUM with its argument and its axes; the roots are last. All numbers are of four bytes, little-endian.

#include "nodes.h"

#include <cstring>
#include <string>
#include <unordered_map>
#include <vector>

namespace nb = nanobind;

namespace {

using acausal::Node;

enum Tag : std::uint32_t { CONSTANT, OBJECT, OPERATION, ROOT, CALL, SUM };

// The operators in a fixed order; they stay for the life of the process.
struct Operators {
    std::vector<PyObject*> all;
    std::unordered_map<PyObject*, std::uint32_t> numbers;
};

Operators& operators() {
    static auto* const found = new Operators();
    return *found;
}

void learn_operators(nb::tuple given) {
    for (nb::handle op : given) {
        operators().numbers.emplace(Py_NewRef(op.ptr()), static_cast<std::uint32_t>(operators().all.size()));
        operators().all.push_back(op.ptr());
    }
}

void put(std::string& code, std::uint32_t number) {
    for (int k = 0; k < 4; ++k) {
        code.push_back(static_cast<char>((number >> (8 * k)) & 0xff));
    }
}

void put_constant(std::string& code, PyObject* node) {
    nb::object value = nb::steal(PyObject_GetAttrString(node, "value"));
    if (!value.is_valid()) {
        throw nb::python_error();
    }
    const double number = PyFloat_AsDouble(value.ptr());
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    put(code, CONSTANT);
    put(code, static_cast<std::uint32_t>(bits));
    put(code, static_cast<std::uint32_t>(bits >> 32));
}

void put_arguments(std::string& code, Node* node, const std::unordered_map<PyObject*, std::uint32_t>& numbers) {
    put(code, static_cast<std::uint32_t>(PyTuple_GET_SIZE(node->args)));
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(node->args); ++k) {
        put(code, numbers.at(PyTuple_GET_ITEM(node->args, k)));
    }
}

nb::tuple encoded(nb::tuple roots) {
    std::unordered_map<PyObject*, std::uint32_t> numbers, functions;
    std::string code;
    nb::list objects;
    for (nb::handle handle : acausal::walked(roots)) {
        PyObject* object = handle.ptr();
        auto* node = reinterpret_cast<Node*>(object);
        numbers.emplace(object, static_cast<std::uint32_t>(numbers.size()));
        if (acausal::is_constant(object)) {
            put_constant(code, object);
            continue;
        }
        if (acausal::is_call(object)) {
            nb::object function = handle.attr("function");
            auto [place, is_new] = functions.emplace(function.ptr(), static_cast<std::uint32_t>(nb::len(objects)));
            if (is_new) {
                objects.append(function);
            }
            put(code, CALL);
            put(code, place->second);
            put_arguments(code, node, numbers);
            continue;
        }
        if (acausal::is_sum(object)) {
            nb::tuple axes = nb::cast<nb::tuple>(handle.attr("axes"));
            put(code, SUM);
            put(code, numbers.at(PyTuple_GET_ITEM(node->args, 0)));
            put(code, static_cast<std::uint32_t>(nb::len(axes)));
            for (nb::handle axis : axes) {
                put(code, nb::cast<std::uint32_t>(axis));
            }
            continue;
        }
        auto op = node->operation ? operators().numbers.find(node->operation) : operators().numbers.end();
        if (op == operators().numbers.end() || !acausal::is_operation(object)) {
            put(code, OBJECT);
            put(code, static_cast<std::uint32_t>(nb::len(objects)));
            objects.append(handle);
            continue;
        }
        put(code, OPERATION);
        put(code, op->second);
        put_arguments(code, node, numbers);
    }
    for (nb::handle root : roots) {
        put(code, ROOT);
        put(code, numbers.at(root.ptr()));
    }
    return nb::make_tuple(nb::bytes(code.data(), code.size()), objects);
}

class Reader {
  public:
    explicit Reader(nb::bytes code) : bytes_(reinterpret_cast<const unsigned char*>(code.c_str())), left_(code.size()) {}

    bool done() const { return left_ == 0; }

    std::uint32_t next() {
        if (left_ < 4) {
            throw nb::value_error("the code of an expression ends too early");
        }
        std::uint32_t number = 0;
        for (int k = 0; k < 4; ++k) {
            number |= static_cast<std::uint32_t>(bytes_[k]) << (8 * k);
        }
        bytes_ += 4;
        left_ -= 4;
        return number;
    }

    std::uint32_t below(std::size_t limit) {
        const std::uint32_t number = next();
        if (number >= limit) {
            throw nb::value_error("the code of an expression names something that is not there");
        }
        return number;
    }

  private:
    const unsigned char* bytes_;
    std::size_t left_;
};

nb::object constant(Reader& code) {
    std::uint64_t bits = code.next();
    bits |= static_cast<std::uint64_t>(code.next()) << 32;
    double number = 0.0;
    std::memcpy(&number, &bits, sizeof bits);
    return acausal::constant(number);
}

nb::object object(Reader& code, const nb::list& objects, bool node) {
    nb::object found = nb::borrow(nb::handle(objects[code.below(nb::len(objects))]));
    if (static_cast<bool>(PyObject_TypeCheck(found.ptr(), acausal::node_type())) != node) {
        throw nb::value_error("the code of an expression takes a function for a node, or a node for a function");
    }
    return found;
}

nb::object arguments(Reader& code, const std::vector<nb::object>& nodes) {
    const std::uint32_t count = code.below(1024);
    std::vector<nb::object> found;
    for (std::uint32_t k = 0; k < count; ++k) {
        found.push_back(nodes[code.below(nodes.size())]);
    }
    nb::object args = nb::steal(PyTuple_New(count));
    for (std::uint32_t k = 0; k < count; ++k) {
        PyTuple_SET_ITEM(args.ptr(), k, found[k].release().ptr());
    }
    return args;
}

nb::tuple decoded(nb::bytes given, nb::list objects) {
    Reader code(given);
    std::vector<nb::object> nodes;
    nb::list roots;
    while (!code.done()) {
        switch (code.next()) {
        case CONSTANT:
            nodes.push_back(constant(code));
            break;
        case OBJECT:
            nodes.push_back(object(code, objects, true));
            break;
        case OPERATION: {
            PyObject* op = operators().all[code.below(operators().all.size())];
            nodes.push_back(acausal::operation(op, arguments(code, nodes)));
            break;
        }
        case CALL: {
            nb::object function = object(code, objects, false);
            nodes.push_back(acausal::call(function, arguments(code, nodes)));
            break;
        }
        case SUM: {
            const nb::object argument = nodes[code.below(nodes.size())];
            const std::size_t rank = nb::len(nb::handle(argument.attr("shape")));
            nb::list axes;
            for (std::uint32_t left = code.below(64); left > 0; --left) {
                axes.append(code.below(rank));
            }
            nodes.push_back(acausal::sum(argument, nb::tuple(axes)));
            break;
        }
        case ROOT:
            roots.append(nodes[code.below(nodes.size())]);
            break;
        default:
            throw nb::value_error("the code of an expression has a part that nobody knows");
        }
    }
    return nb::tuple(roots);
}

} // namespace

void bind_encoding(nb::module_& m) {
    using namespace nb::literals;
    m.def("learn_operators", &learn_operators, "operators"_a, "The operators, in the order that codes of expressions number them by.");
    m.def("encoded", &encoded, "roots"_a,
          "Expressions as bytes, and the objects in them, by number: functions that are called, and nodes that are nothing else.");
    m.def("decoded", &decoded, "code"_a, "objects"_a, "The expressions that bytes and objects stand for.");
}
