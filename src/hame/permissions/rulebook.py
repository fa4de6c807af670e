"""All rules that count for one project and session, and their examples."""

from collections.abc import Iterable, Sequence

from hame.base.errors import ConfigError
from hame.base.zone import ProjectPaths
from hame.permissions.decision import Decision
from hame.permissions.rule import Rule, Scope
from hame.permissions.rulefile import RuleFiles, append_rule, read_rules, remove_rule


class Rulebook:
    """Rules by what they decide. Deny counts before ask, and ask before allow."""

    def __init__(self, files: RuleFiles | None = None, rules: Sequence[Rule] = ()) -> None:
        """Take the rules of the files; without files nothing can be kept."""
        self._files = files
        self._rules = [rule for rule in rules if not _is_proposal(rule)]
        self.proposals: tuple[Rule, ...] = tuple(rule for rule in rules if _is_proposal(rule))
        """Allow rules of the project's own file: they count only once the user has taken them over."""

    @property
    def rules(self) -> Sequence[Rule]:
        """Every rule that counts."""
        return tuple(self._rules)

    @property
    def keeps(self) -> bool:
        """Whether a rule can be kept for good."""
        return self._files is not None

    def deciding(self, decision: Decision) -> list[Rule]:
        """The rules that decide so, in the order of the files."""
        return [rule for rule in self._rules if rule.decision is decision]

    def grant(self, rule: Rule) -> None:
        """Let a rule count until the session ends."""
        self._rules.append(rule)

    def forget_session(self) -> None:
        """The session has ended: what was granted for it counts no more."""
        self._rules = [rule for rule in self._rules if rule.scope is not Scope.SESSION]

    def keep(self, rule: Rule) -> None:
        """Write a rule to the file of its scope, and let it count.

        Raises:
            ConfigError: if it cannot be written.
        """
        if self._files is None:
            raise ConfigError("there is no place to keep a rule")
        append_rule(self._files.of(rule.scope), rule, root=self._files.root)
        self._rules.append(rule)

    def drop(self, rule: Rule) -> None:
        """Take a rule out of its file.

        Raises:
            ConfigError: if it cannot be taken out.
        """
        if self._files is None or rule not in self._rules:
            raise ConfigError("there is no such rule")
        remove_rule(self._files.of(rule.scope), rule, root=self._files.root)
        self._rules.remove(rule)


def open_rulebook(config: str, paths: ProjectPaths) -> Rulebook:
    """The rules of the user's files and of the project's own; their examples are checked.

    Raises:
        ConfigError: if a file cannot be read, a rule cannot be used, or an example fails.
    """
    files = RuleFiles(config, paths.root)
    rules = [
        *read_rules(files.user, Scope.USER),
        *read_rules(files.project, Scope.PROJECT, root=paths.root),
        *read_rules(files.repository, Scope.REPOSITORY),
    ]
    failed = failed_examples(rules, paths)
    if failed:
        raise ConfigError(
            failed[0], hint="Correct the rule or the example; hame permissions test runs them all."
        )
    return Rulebook(files, rules)


def failed_examples(rules: Iterable[Rule], paths: ProjectPaths) -> list[str]:
    """What is wrong with the examples, one line each."""
    failed: list[str] = []
    for rule in rules:
        if not rule.match and not rule.no_match:
            continue
        from hame.permissions.examples import matches_example

        failed += [
            f"{rule.where}: its example {example!r} should match, and does not"
            for example in rule.match
            if not matches_example(rule, example, paths)
        ]
        failed += [
            f"{rule.where}: its example {example!r} should not match, and does"
            for example in rule.no_match
            if matches_example(rule, example, paths)
        ]
    return failed


def _is_proposal(rule: Rule) -> bool:
    return rule.scope is Scope.REPOSITORY and rule.decision is Decision.ALLOW
