"""What a shell command would do, as far as its text shows: allow, ask or deny."""
