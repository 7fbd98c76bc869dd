"""Studies: many runs of one model, from cases to a table."""
