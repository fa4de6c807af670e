"""Sessions on disk: one append-only journal each, the store that finds them, redaction of secrets."""
