"""Text: what was received -> sentences -> phonemes."""

NORMALIZER_VERSION = "2"
"""Part of the key of all that is cached by text: raise it when a text is cleaned or split otherwise."""
