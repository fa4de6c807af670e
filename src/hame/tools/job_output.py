"""job_output: what background jobs have printed since they were looked at last."""

from functools import cache

from hame.base.json import JsonObject, get_number, get_string
from hame.base.outcome import Done, Failed, TextView, text_content
from hame.base.ports import Action, Jobs, ToolContext
from hame.base.tool import Argument, ArgumentKind, Effect, ToolSpec
from hame.tools.action import Plan, hold
from hame.tools.description import describe
from hame.tools.jobtext import job_line, job_outcome, need_jobs
from hame.tools.phrase import spoken

_LONGEST_S = 60.0


class JobOutputTool:
    """Reads a job's output, or lists the jobs."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        return _spec()

    def summarize(self, arguments: JsonObject) -> str:
        """The job, or all of them."""
        return spoken(arguments, "job", "all jobs")

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Nothing to check before it runs.

        Raises:
            ToolError: where there are no jobs.
        """
        jobs = need_jobs(context)
        name = get_string(arguments, "job")
        wait = min(get_number(arguments, "wait_s") or 0.0, _LONGEST_S)

        async def read() -> Done | Failed:
            if not name:
                return _list(jobs)
            return job_outcome(await jobs.read(name, wait), [])

        async def plan() -> Plan:
            return Plan(read)

        return await hold((), plan)


def _list(jobs: Jobs) -> Done:
    text = "\n".join(map(job_line, jobs.list())) or "no job was started in this session"
    return Done(text_content(text), TextView(text, title="jobs"))


@cache
def _spec() -> ToolSpec:
    return ToolSpec(
        name="job_output",
        title="Job",
        description=describe(__file__),
        effect=Effect.READ,
        advertised=False,
        arguments=(
            Argument(
                name="job",
                kind=ArgumentKind.WORDS,
                required=False,
                description="id; without one all jobs are listed",
            ),
            Argument(
                name="wait_s",
                kind=ArgumentKind.NUMBER,
                type="number",
                required=False,
                description="wait so long for more output or its end; at most 60",
            ),
        ),
    )
