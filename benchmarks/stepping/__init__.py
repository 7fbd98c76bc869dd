"""Plants of any size that show what rules the steps of a run, and what a step costs."""
