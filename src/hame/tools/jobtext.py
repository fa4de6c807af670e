"""What the model is told of a background job."""

from hame.base.errors import ToolError
from hame.base.job import Job, JobOutput
from hame.base.outcome import CommandView, Done, Failed, text_content
from hame.base.ports import Jobs, ToolContext
from hame.tools.ending import how_it_ended
from hame.tools.phrase import flatten

_COMMAND_LIMIT = 80


def need_jobs(context: ToolContext) -> Jobs:
    """The jobs of this session.

    Raises:
        ToolError: where there are none.
    """
    if context.jobs is None:
        raise ToolError("there are no background jobs here")
    return context.jobs


def job_line(job: Job) -> str:
    """One line: id, state, command."""
    return f"{job.id}  {_state(job)}  {flatten(job.command, _COMMAND_LIMIT)}"


def job_outcome(output: JobOutput, notes: list[str]) -> Done | Failed:
    """What a job has printed since it was looked at last, and how it is."""
    from hame.tools.recorder import Recorder

    job = output.job
    recorder = Recorder(lambda _: None)
    recorder.take(output.data)
    printed = recorder.close()
    if output.skipped:
        notes = [f"{output.skipped:,} bytes before this are left out", *notes]
    notes = [*notes, f"the whole log: result:{job.id}", *job.aftermath]
    if job.exit is None:
        notes.append("it goes on; job_output, send_job_input and stop_job by use_tool take its id")
    body = printed.strip("\n") or "(nothing new)"
    text = f"job {job.id} {_state(job)}\n{body}" + "".join(f"\n[{note}]" for note in notes)
    code = job.exit.code if job.exit else None
    view = CommandView(job.command, printed, code, _state(job), aftermath=job.aftermath)
    failed = job.exit is not None and not job.exit.ok
    return Failed(text, view) if failed else Done(text_content(text), view)


def _state(job: Job) -> str:
    if job.exit is not None:
        return f"has ended: {how_it_ended(job.exit, 0)}"
    return "runs in the background" + (" and outlives the session" if job.kept else "")
