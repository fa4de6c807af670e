"""Files in which people, or other tools, tell an agent what to do; pure data."""

READ_NAMES: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md")
"""Those that hame passes on to the model by itself, the first that is there."""

OBEYED_NAMES: frozenset[str] = frozenset({
    "agents.md", "claude.md", "gemini.md", "hame.md", "agent.md", ".cursorrules", ".windsurfrules",
    ".clinerules", "copilot-instructions.md",
})  # fmt: skip
"""In lower case: those that later sessions, or other agents, take for orders."""
