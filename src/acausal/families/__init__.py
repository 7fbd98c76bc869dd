"""Component tree → templates + index tables."""
