"""What a model is, what may be wrong with it, and what made a run slow, told by component, equation and line.

Nothing here is needed to simulate; everything is computed when somebody asks.
"""
