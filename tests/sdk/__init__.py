"""The released Strands Agents SDKs, each run from its own wheel in a process of its own."""
