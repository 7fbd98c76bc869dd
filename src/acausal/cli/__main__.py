"""`python -m acausal.cli`, for those whose shell does not find the script."""

from . import main

main()
