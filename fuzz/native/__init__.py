"""Fuzzing of the compiled readers without Python around them."""
