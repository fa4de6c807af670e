"""Whether a call may run: modes, the user's rules, command analysis, places, grants and questions."""
