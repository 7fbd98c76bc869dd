"""Hybrid runs: what happens at an event, and the run from event to event."""
