"""The user's classes → declarations and expressions."""
