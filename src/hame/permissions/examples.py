"""Whether a rule matches an example: a command line, a path, an address or a tool's name."""

from hame.base.tool import Effect, ToolSpec
from hame.base.zone import Operation, ProjectPaths
from hame.permissions.commands.analysis import analyse
from hame.permissions.commands.ground import Ground, reach
from hame.permissions.decision import Decision
from hame.permissions.rule import Fit, Rule, covers_host, covers_path, covers_tool, refuses_command
from hame.permissions.verdict import allows_line


def matches_example(rule: Rule, example: str, paths: ProjectPaths) -> bool:
    """Whether the rule speaks of the example, which is of the kind that the rule is about."""
    if rule.command:
        return _matches_command(rule, example, paths)
    if rule.path:
        ground = Ground(paths=paths)
        written = paths.home + example[1:] if example.startswith("~/") else example
        return covers_path(rule, reach(written, paths.root, ground, Operation.READ).real, paths)
    if rule.host:
        return covers_host(rule, host_of(example))
    if rule.tool:
        spec = ToolSpec(name=example, description="", effect=Effect.READ, source=rule.source)
    else:
        spec = ToolSpec(name="", description="", effect=Effect.READ, source=example)
    return covers_tool(rule, spec)


def host_of(address: str) -> str:
    """The machine in an address; an address without a scheme is taken for the machine's name."""
    from urllib.parse import urlsplit

    try:
        return urlsplit(address if "://" in address else f"//{address}").hostname or ""
    except ValueError:
        return ""


def _matches_command(rule: Rule, example: str, paths: ProjectPaths) -> bool:
    ground = Ground(paths=paths, cwd=f"{paths.root}/{rule.cwd}" if rule.cwd else "")
    analysis = analyse(example, ground)
    if rule.decision is Decision.ALLOW:
        return allows_line(analysis, [rule], paths, pinned=None)
    if analysis.scene is None:
        return False
    return any(refuses_command(rule, found) is Fit.YES for found in analysis.scene.commands)
