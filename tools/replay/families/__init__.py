"""The recorded calls that gridwave answers, a module for each family."""
