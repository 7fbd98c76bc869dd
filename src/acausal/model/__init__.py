"""What a user holds: a compiled model, a session, phases; numbers, runs and questions, each answered by the rooms to the left."""
