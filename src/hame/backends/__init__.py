"""Which models exist here, and which one is meant."""
