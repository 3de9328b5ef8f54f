"""What several subcommands read from their arguments in the same way."""

import argparse


def token_count(text: str) -> int:
    """Return a number of tokens as a person writes it, 12,000 or 12_000; what is none becomes a usage error."""
    number = int(text.replace(",", "").replace("_", ""))
    if number < 0:
        raise argparse.ArgumentTypeError(f"a budget is a number of tokens, got {text!r}")
    return number


def port(text: str) -> int:
    """Return the number of a port, 0 for any that is free; what is none becomes a usage error."""
    number = int(text)
    if not 0 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"not a port: {text!r}")
    return number
