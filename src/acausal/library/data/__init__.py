"""Data files of the library's demonstrations."""
