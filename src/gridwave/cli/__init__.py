"""The command line: one thin file a command, each parsing, calling one library function and showing its records."""

from gridwave.cli.app import main as main
