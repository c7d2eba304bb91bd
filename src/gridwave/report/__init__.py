"""Showing records: in the terminal (rich), as JSON, as Markdown, as plots (matplotlib)."""
