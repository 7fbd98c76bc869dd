"""Templates to machine code; `interpret` evaluates the same expressions with numpy."""

from .compile import Kernel, Statistics, compile_kernels, statistics

__all__ = ["Kernel", "Statistics", "compile_kernels", "statistics"]
