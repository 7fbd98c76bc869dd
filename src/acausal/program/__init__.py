"""The compiled model as a value: what a translation leaves, and how it is kept, sent and read again."""
