"""The subcommands of `ctxlab`, one module each, with `configure(parser)` and `run(args) -> int`.

A subcommand reads arguments, makes one call into the package and prints the record that comes back. It imports what
is heavy inside `run`, and holds no rule.
"""
