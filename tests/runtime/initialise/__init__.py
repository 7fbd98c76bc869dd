"""Tests of the initialisation."""
