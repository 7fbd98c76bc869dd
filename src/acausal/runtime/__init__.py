"""From kernels, tables and numbers to states over time: problems, initialisation, solvers."""
