"""Trajectories → what people look at: variables by name and unit, plots, tables and files."""
