"""send_job_input: words for a program that runs in the background."""

from functools import cache

from hame.base.json import JsonObject, get_bool
from hame.base.outcome import CommandView, Done, Failed
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.jobtext import job_outcome, need_jobs
from hame.tools.phrase import flatten, spoken

_ANSWER_S = 1.0
"""How long what it says to that is awaited."""


class SendJobInput:
    """Writes to a job's input."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The job and the words."""
        return flatten(f"{spoken(arguments, 'job')}: {spoken(arguments, 'text', '')}")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """What is sent may do anything the program can: the gate judges it as a command.

        Raises:
            ToolError: where there are no jobs.
        """
        jobs = need_jobs(context)
        job, text = need_string(arguments, "job"), need_string(arguments, "text")
        close = get_bool(arguments, "close") or False
        line = text if close and not text else f"{text}\n"

        async def send() -> Done | Failed:
            await jobs.send(job, line.encode(), close=close)
            return job_outcome(await jobs.read(job, _ANSWER_S), [])

        async def plan() -> Plan:
            command = next((each.command for each in jobs.list() if each.id == job), "?")
            view = CommandView(f"input for {command}:\n{text}")
            return Plan(send, view, (job, line, str(close)))

        return await hold((), plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="send_job_input",
        title="Send",
        description=describe(__file__),
        effect=Effect.RUN,
        advertised=False,
        arguments=(
            Argument(name="job", kind=ArgumentKind.WORDS, description="id"),
            Argument(name="text", kind=ArgumentKind.WORDS, description="without the line end"),
            Argument(
                name="close",
                kind=ArgumentKind.FLAG,
                type="boolean",
                required=False,
                description="end of input after it",
            ),
        ),
    )
