"""The closed form of a message schedule: its exact times at some P, and the formula whose values they are."""
