"""Formats of other tools, one module each: a detector and a function that gives the pieces to ``Turns``."""
