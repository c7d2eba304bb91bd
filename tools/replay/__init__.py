"""Replays recorded outputs of real frameworks: one file per operator family claims the calls it can answer."""
