"""Templates to machine code, and the same expressions evaluated with numpy."""

from .compile import Kernel, Statistics, compile_kernels, statistics
from .interpret import Fault, evaluate, first_fault

__all__ = ["Fault", "Kernel", "Statistics", "compile_kernels", "evaluate", "first_fault", "statistics"]
