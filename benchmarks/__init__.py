"""Benchmarks of acausal: against hand-written C, against peers, over size, and on published initial-value problems.

They are run by ``acausal bench SUITE`` from a checkout; the folder is no part of the installed package. `models` and
`ours` are acausal's side, everything else is what it is compared with.
"""
