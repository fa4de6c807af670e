"""How child processes are confined."""
