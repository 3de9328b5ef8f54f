"""Sizes of context windows, in tokens, to offer as presets of a token budget. Data only.

Taken from the defaults of strands-agents 1.62.0, cross-read with the price table of litellm 1.110.2. A family whose
members differ is left out, as is the guess for an unknown model.
"""

CONTEXT_WINDOWS: tuple[tuple[str, int], ...] = (
    ("GPT-3.5 Turbo", 16_385),
    ("Mistral Large 2402 (Bedrock)", 32_000),
    ("Nova Micro", 128_000),
    ("GPT-4o", 128_000),
    ("Mistral Large 2407 (Bedrock)", 128_000),
    ("Llama 3.1 and 3.3 (Bedrock)", 128_000),
    ("DeepSeek R1 (Bedrock)", 128_000),
    ("Command R", 128_000),
    ("Claude 3.x, 4.5", 200_000),
    ("OpenAI o-series", 200_000),
    ("Command A", 256_000),
    ("GPT-5 to 5.2", 272_000),
    ("Nova Lite and Pro", 300_000),
    ("Claude 4.6 and newer", 1_000_000),
    ("Nova Premier, Nova 2 Lite", 1_000_000),
    ("Llama 4 Maverick", 1_000_000),
    ("GPT-4.1", 1_047_576),
    ("Gemini 1.5 Flash to 3", 1_048_576),
    ("GPT-5.4 and newer", 1_050_000),
    ("Llama 4 Scout", 10_000_000),
)
"""Label and tokens, smallest first."""
