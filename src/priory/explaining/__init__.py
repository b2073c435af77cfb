"""What would change a prediction, what it rests on, and which rows moved it."""
