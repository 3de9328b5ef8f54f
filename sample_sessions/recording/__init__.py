"""How the sample sessions are made: what is said and done in each, and the model that plays the provider's part.

Used by record.py only, never by ctxlab. Each module of samples offers `SAMPLES`, a folder name to the function that
records it. Nothing here reads the clock, the network or anything that differs between two runs.
"""
