"""ctxlab shows what happens to an agent's conversation when it no longer fits its context window."""
