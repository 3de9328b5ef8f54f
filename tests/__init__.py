"""The tests of ctxlab. What they share is imported as `tests.builders`, `tests.strategies` and `tests.conftest`."""
