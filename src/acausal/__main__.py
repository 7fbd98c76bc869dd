"""`python -m acausal` is the command line."""

from .cli import main

main()
