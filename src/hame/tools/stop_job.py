"""stop_job: end a program that runs in the background, with everything it has started."""

from functools import cache

from hame.base.json import JsonObject
from hame.base.outcome import Done, text_content
from hame.base.ports import Action, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold
from hame.tools.arguments import need_string
from hame.tools.description import describe
from hame.tools.jobtext import job_line, need_jobs
from hame.tools.phrase import spoken


class StopJob:
    """Ends a job."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The job."""
        return spoken(arguments, "job")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Nothing to check before it runs.

        Raises:
            ToolError: where there are no jobs.
        """
        jobs = need_jobs(context)
        job = need_string(arguments, "job")

        async def stop() -> Done:
            ended = await jobs.kill(job)
            notes = "".join(f"\n[{note}]" for note in ended.aftermath)
            return Done(text_content(job_line(ended) + notes))

        async def plan() -> Plan:
            return Plan(stop)

        return await hold((), plan)


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="stop_job",
        title="Stop",
        description=describe(__file__),
        effect=Effect.INTERACT,
        advertised=False,
        arguments=(Argument(name="job", kind=ArgumentKind.WORDS, description="id"),),
    )
