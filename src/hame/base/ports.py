"""Every contract between rooms.

A room implements some of these and uses others; only `hame.app` knows who implements what. A fake in
`hame.testing` passes the same contract suite as the real thing.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import msgspec

from hame.base.confinement import Confinement, Level, SandboxDenied, Standing
from hame.base.edit import Problem, Symbol, TextEdit
from hame.base.entry import Entry, Record
from hame.base.errors import ErrorKind, Failure
from hame.base.event import RunEvent
from hame.base.job import Job, JobOutput
from hame.base.json import JsonObject
from hame.base.lines import Lines
from hame.base.memory import Constraint, Shortened, WindowReport
from hame.base.message import Assistant, Message, ToolCall, User
from hame.base.model import (
    CacheLifetime,
    Effort,
    Endpoint,
    ModelFacts,
    ModelListing,
    Timeouts,
    Vendor,
)
from hame.base.outcome import Corrected, Denied, Done, Failed, Outcome, View
from hame.base.path import DirectoryEntry, FileText, Match, Resolution, TextWindow
from hame.base.process import Exit, Launch
from hame.base.question import Answer, Question
from hame.base.snapshot import Attempt, Step, UndoPlan
from hame.base.stream import StreamEvent
from hame.base.tool import ToolSpec
from hame.base.web import WebRequest, WebResponse
from hame.base.zone import Operation, ProjectPaths

Emit: TypeAlias = Callable[[RunEvent], None]
"""Takes an event; must not block for long and must not raise."""


class Clock(Protocol):
    """Time, so that tests can own it."""

    def now(self) -> float:
        """Unix time in seconds."""
        ...

    def monotonic(self) -> float:
        """Seconds that only grow."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Let that much time pass; can be cancelled."""
        ...


# ---------------------------------------------------------------- models


class ModelRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One question to a model, in no provider's words."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    max_output_tokens: int | None = None
    effort: Effort | None = None
    session: str = ""
    """Stable within a session; routes to the provider's cache."""
    cache: CacheLifetime = CacheLifetime.SHORT
    """How long the provider is to keep it, where a wire can say so."""
    shape: JsonObject | None = None
    """JSON Schema that the whole answer is to be held to, by a server that can."""
    lines: tuple[Lines, ...] = ()
    """The answer is to be one of these lines, in the form that the model's `constraint` says."""
    temperature: float | None = None
    """For an answer that is held to something; None: the server's own. Only the wires of local servers
    say it."""
    web_search: bool = False
    """Let the provider search the web by itself, where its wire offers that."""


class Model(Protocol):
    """One model that can be asked. Asking is always streaming; `complete` is a fold of the stream."""

    @property
    def facts(self) -> ModelFacts:
        """What is known of it."""
        ...

    def stream(
        self, request: ModelRequest
    ) -> AbstractAsyncContextManager[AsyncIterator[StreamEvent]]:
        """Ask. The events end with one `Completed` or `Failed`; failures do not raise.

        Leaving the context early cancels the request and closes its connection.
        """
        ...


class HttpRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A request that is ready to be sent."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""


class HttpResponse(Protocol):
    """An answer whose body has not been read yet."""

    @property
    def status(self) -> int:
        """HTTP status."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """Headers, names in lower case."""
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it arrives, content coding undone.

        Raises:
            ModelError: kind timeout after too long a silence, network when the connection broke.
        """
        ...


class Http(Protocol):
    """The one door to the network."""

    def send(
        self, request: HttpRequest, timeouts: Timeouts
    ) -> AbstractAsyncContextManager[HttpResponse]:
        """Send and wait for the head of the response. Redirects are not followed.

        Raises:
            ModelError: kind network (refused, unreachable, TLS) or timeout.
        """
        ...


class Frame(msgspec.Struct, frozen=True):
    """One event of a server-sent stream, or one line of NDJSON."""

    data: str
    event: str = ""


class Decoder(Protocol):
    """Turns the frames of one answer into events. Holds no socket and knows no time."""

    def feed(self, frame: Frame) -> Sequence[StreamEvent]:
        """Take one frame. Nothing may follow `Completed` or `Failed`."""
        ...

    def close(self) -> Sequence[StreamEvent]:
        """The body has ended: whatever is missing is made plain here.

        A stream that ended before its proper end yields `Failed` (kind network, retryable,
        mid_stream set if anything had been said); after `Completed` or `Failed`, nothing.
        """
        ...


class Codec(Protocol):
    """One wire: how a request is written and an answer is read. Pure."""

    @property
    def name(self) -> str:
        """The wire's name, as catalogue rows say it."""
        ...

    @property
    def framing(self) -> Literal["sse", "ndjson"]:
        """How frames lie in a streamed body."""
        ...

    def encode(self, request: ModelRequest, facts: ModelFacts, endpoint: Endpoint) -> HttpRequest:
        """Write a request. The history has been repaired; equal prefixes give equal bytes."""
        ...

    def decoder(self, facts: ModelFacts) -> Decoder:
        """A decoder for one streamed answer."""
        ...

    def decode_body(self, body: bytes, facts: ModelFacts) -> Sequence[StreamEvent]:
        """Read an answer that came whole, as one JSON body with status 200."""
        ...

    def list_request(self, endpoint: Endpoint) -> HttpRequest:
        """The request that lists the server's models."""
        ...

    def decode_list(self, body: bytes) -> Sequence[ModelListing]:
        """Read a list of models.

        Raises:
            ValueError: if the body is no such list.
        """
        ...


# ---------------------------------------------------------------- backends


class Backend(Protocol):
    """Models that exist here. What is optional is a protocol of its own, asked for by type."""

    @property
    def id(self) -> str:
        """First part of `backend/model`."""
        ...

    @property
    def display_name(self) -> str:
        """Name for eyes."""
        ...

    def default_model(self) -> str | None:
        """The model to use when only the backend is named."""
        ...

    def ready(self) -> bool:
        """Whether it could be asked: a key is set, or none is needed."""
        ...

    def chosen(self) -> bool:
        """Whether the user set it up, by a key or an address; a server that needs no key is not."""
        ...

    def open(self, model: str) -> Model:
        """A model by the name its server knows.

        Raises:
            ConfigError: when it cannot be asked (no key, not set up), with the remedy.
        """
        ...


@runtime_checkable
class ListsModels(Protocol):
    """A backend whose server can be asked what it serves."""

    async def list_models(self) -> Sequence[ModelListing]:
        """What the server lists.

        Raises:
            ModelError: if it could not be asked.
        """
        ...


class Catalogue(Protocol):
    """Vendors and models as rows."""

    def vendors(self) -> Sequence[str]:
        """Ids of all vendors."""
        ...

    def vendor(self, vendor_id: str) -> Vendor | None:
        """One vendor's row."""
        ...

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model; safe defaults for one the catalogue does not hold."""
        ...


# ---------------------------------------------------------------- the project on this machine


class Located(Protocol):
    """A path that was resolved once and is held open: the gate judges it, tools act on it.

    Acting goes through the open descriptor of the directory it lies in, so a link that is swapped
    afterwards leads nowhere else. Must be closed.
    """

    @property
    def resolution(self) -> Resolution:
        """Where it leads."""
        ...

    def close(self) -> None:
        """Let go of the descriptor; may be called twice."""
        ...


class SearchQuery(msgspec.Struct, frozen=True, kw_only=True):
    """What to look for in files."""

    pattern: str
    regex: bool = False
    case_sensitive: bool = True
    glob: str | None = None
    """Only files whose path matches."""


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of one file when several change together.

    `before` is the file as the change was worked out for it; None: there is none yet, and the edits
    are made in the empty text. With `target` the file moves there, where nothing may be; with
    `delete` it goes.
    """

    place: Located
    before: FileText | None
    edits: tuple[TextEdit, ...] = ()
    """Offsets count in `before.text`, whatever the order; no two overlap."""
    target: Located | None = None
    delete: bool = False


class Overlay(Protocol):
    """Texts that are open in an editor, saved or not. Paths are absolute and real."""

    async def read(self, path: str) -> str | None:
        """The text of an open file as its user sees it; None when it is not open."""
        ...

    async def write(self, path: str, text: str) -> None:
        """Change the text of an open file.

        Raises:
            PathError: when the editor refuses.
        """
        ...


class Workspace(Protocol):
    """The project's files. All paths come in as the model wrote them: absolute or relative to the root.

    Methods that take a Located act on exactly that place. They raise PathError with words for the
    model (no such file, is a directory, permission denied, disk full, changed since it was read).
    """

    @property
    def paths(self) -> ProjectPaths:
        """Where the project is."""
        ...

    def locate(self, path: str, operation: Operation) -> Located:
        """Resolve a path component by component, links included, and hold it open.

        Raises:
            PathError: for a path that cannot be resolved (loop, NUL byte, not a directory).
        """
        ...

    async def read_bytes(self, place: Located, limit: int | None = None) -> bytes:
        """A file's bytes, at most `limit`; FIFOs, sockets and devices are refused at once.

        Raises:
            PathError: if it cannot be read.
        """
        ...

    async def read_text(self, place: Located, *, remember: bool = True) -> FileText:
        """A text file, decoded; binary files are refused.

        Remembers that the model saw it, unless told not to: a tool that only checks an edit reads
        the file without showing it.

        Raises:
            PathError: if it cannot be read as text.
        """
        ...

    async def write_text(
        self, place: Located, text: str, like: FileText | None, *, replace: bool
    ) -> None:
        """Write a whole file atomically, in the encoding of `like` (UTF-8 without one).

        With `like`, the file must still have the bytes that `like` was read from. Mode bits are
        kept; missing folders are made. Without `replace` an existing file is an error. The model
        counts as having seen what it wrote.

        Raises:
            PathError: if it cannot be written; no partial file is left.
        """
        ...

    async def read_window(self, place: Located, first: int, count: int, size: int) -> TextWindow:
        """Lines of a text file of any size, from the line `first` (from 1), never the whole file.

        At most `count` lines and about `size` bytes; what is too long in one line is left out.

        Raises:
            PathError: if it cannot be read as text.
        """
        ...

    async def apply(self, changes: Sequence[FileChange]) -> Sequence[str]:
        """Change several files, on disk and where they are open in an editor: all of them or none.

        Returns the paths that changed, as they are shown. The model counts as having seen what it
        wrote.

        Raises:
            PathError: if one of them cannot be changed, or is not as it was; nothing was changed.
        """
        ...

    def was_read(self, place: Located) -> str | None:
        """Digest of the file as the model last saw it; None when it never did."""
        ...

    async def make_directory(self, place: Located) -> None:
        """Make a directory and its missing parents.

        Raises:
            PathError: if something else is there.
        """
        ...

    async def move(self, source: Located, target: Located) -> None:
        """Move a file or directory; never onto something that exists.

        Raises:
            PathError: if it cannot be moved.
        """
        ...

    async def delete(self, place: Located) -> None:
        """Delete a file, or a directory with all that is in it. Links are deleted, not followed.

        Raises:
            PathError: if it cannot be deleted.
        """
        ...

    async def list_directory(self, place: Located) -> Sequence[DirectoryEntry]:
        """The names in a directory, sorted, directories first.

        Raises:
            PathError: if it is not a readable directory.
        """
        ...

    async def find_files(
        self, pattern: str, place: Located, limit: int
    ) -> tuple[Sequence[str], int]:
        """Files below a directory whose path matches a glob: the first `limit`, and how many there are.

        Ignored files are left out; hidden ones are found when the pattern names them; `**/x` matches
        at the top level too. Sorted by path.
        """
        ...

    async def search_text(
        self, query: SearchQuery, place: Located, limit: int
    ) -> tuple[Sequence[Match], int]:
        """Lines that match: the first `limit` in path order, and how many there are.

        Raises:
            ToolError: for an invalid regular expression.
        """
        ...


class Index(Protocol):
    """A read-only view of the project's files and words, for the local model's mask."""

    def files(self) -> Sequence[str]:
        """Paths of the files that are not ignored, relative to the root, sorted."""
        ...

    def directories(self) -> Sequence[str]:
        """Paths of the directories that hold them, `.` first, sorted."""
        ...

    def text(self, path: str) -> str | None:
        """A file's text; None when it is missing, binary or larger than 1 MiB."""
        ...

    def test_command(self) -> str | None:
        """The command that runs the project's tests, as far as its manifests tell."""
        ...


class Structure(Protocol):
    """What source code defines, by its syntax alone."""

    @property
    def missing(self) -> str:
        """What has to be installed for it to work; empty when nothing is missing."""
        ...

    def understands(self, path: str) -> bool:
        """Whether it knows the language of a file, by its name."""
        ...

    async def outline(self, path: str, text: str) -> Sequence[Symbol]:
        """The symbols that a file defines, in its order; none for a language it does not know."""
        ...


class Diagnostics(Protocol):
    """What is wrong with a file."""

    async def check(self, path: str, text: str) -> Sequence[Problem]:
        """The problems of a text that is, or is to be, at that path; none where it cannot tell."""
        ...


class Process(Protocol):
    """A program that was started. Leaving its context kills what is left of its group."""

    @property
    def pid(self) -> int:
        """Process id; also the id of its group."""
        ...

    @property
    def mark(self) -> str:
        """What tells it and its descendants from all other processes."""
        ...

    def output(self) -> AsyncIterator[bytes]:
        """What it prints, until the pipe closes or shortly after the program itself has ended."""
        ...

    def errors(self) -> AsyncIterator[bytes]:
        """Standard error when it is kept apart."""
        ...

    async def write(self, data: bytes) -> None:
        """Write to an open stdin."""
        ...

    async def end_input(self) -> None:
        """Nothing more is written: the program sees the end of its input."""
        ...

    async def wait(self) -> Exit:
        """Wait until the program itself has ended; its children may live on until the context ends."""
        ...

    def ended(self) -> Exit | None:
        """How the program itself has ended; None while it runs. Looks at the system, now."""
        ...

    @property
    def refused(self) -> Sequence[str]:
        """Machines that its sandbox kept it from so far."""
        ...

    @property
    def aftermath(self) -> Sequence[str]:
        """Once its context is left: what its sandbox put right after it, one line each."""
        ...

    def survivors(self) -> bool:
        """Whether children of the program still run although it has ended itself."""
        ...

    def leave(self) -> None:
        """Let it run on when the context ends; only one whose output goes to a file can."""
        ...

    async def kill(self) -> None:
        """End the whole group: TERM, a short grace, then KILL."""
        ...


class Processes(Protocol):
    """The one place that starts programs, each in a group of its own."""

    def start(self, launch: Launch) -> AbstractAsyncContextManager[Process]:
        """Start a program.

        Raises:
            ToolError: if it cannot be started (not found, not executable).
        """
        ...


class Inmates(Protocol):
    """What lives in a cell, whoever its parent is by now: for cells that do not end with their program."""

    def began(self, leader: int) -> None:
        """The program itself was started, as this process."""
        ...

    def send(self, number: int) -> bool:
        """Send a signal (0: none) to all that can be told to be of this cell; whether any was alive."""
        ...


class Enclosure(Protocol):
    """What is started only holds the program, which runs inside and by whose end it ends too.

    Signals that ask the program to end are for what is inside; one that kills it kills all. A program
    that gets a terminal takes it inside.
    """

    def started(self) -> None:
        """It was started, and has what it needed open."""
        ...

    def exit(self, ended: Exit) -> Exit:
        """How the program itself ended, by how what holds it did."""
        ...

    def left_behind(self) -> bool:
        """Whether the program left anything running when it ended; it was killed at that moment."""
        ...


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A program that is ready to be started confined."""

    launch: Launch
    """What is really started."""
    restrict: Callable[[str | None], None] | None = None
    """Confines the thread that calls it, for good; the program is then started from that thread.

    It is given the path of the terminal that the program opens as its own, where it gets one.
    Raises OSError: nothing may be started then."""
    inmates: Inmates | None = None
    """How to reach what has left the program's group and its marks; None: nothing can outlive it."""
    enclosure: Enclosure | None = None
    """What `launch` starts holds the program; None: it is the program itself."""
    refused: Callable[[], Sequence[str]] = tuple
    """Machines it was kept from so far, by name."""
    aftermath: Callable[[], Sequence[str]] = tuple
    """Once the cell is closed: what was put right after the program, one line each."""


class Gateway(Protocol):
    """The way to the network for a program that has none of its own: to hosts it was granted."""

    def open(
        self, path: str, hosts: Sequence[str]
    ) -> AbstractAsyncContextManager[Callable[[], Sequence[str]]]:
        """Serve HTTP as a proxy on a Unix socket at `path`, in a folder only the user may enter.

        `hosts` are entries of `hame.base.hosts`; none: nothing is let through. Gives what says which
        hosts were refused so far, as they would be granted. Leaving ends every connection and removes
        the socket.

        Raises:
            ToolError: if it cannot be served, or `hosts` holds what is no entry.
        """
        ...


class Sandbox(Protocol):
    """How child processes are confined. Only `Processes` enters it, so nothing can forget to."""

    @property
    def level(self) -> Level:
        """What is expected, until `prepare` has found out by trying; shown on every surface."""
        ...

    async def prepare(self) -> Standing:
        """Try, once, in the very sandbox that will be used, whether it holds; falls to what does."""
        ...

    def confine(self, launch: Launch) -> AbstractAsyncContextManager[Cell]:
        """The same program in its cell; what the cell needs lives as long as the context.

        Afterwards protected files are as they were, and nothing of the cell is left on disk.

        Raises:
            ToolError: if it cannot be confined as it has to be; then it must not be started.
        """
        ...

    def explain(
        self, confinement: Confinement, output: str, refused: Sequence[str], cwd: str
    ) -> tuple[SandboxDenied, ...]:
        """What a program that failed was probably kept from: what it printed, whom it could not reach.

        `cwd` is the folder it ran in. Must not raise, whatever was printed.
        """
        ...


class Jobs(Protocol):
    """Commands that run in the background; they end with the session unless they are kept."""

    async def start(self, launch: Launch, command: str, *, keep: bool = False) -> Job:
        """Start one; `command` is what people are shown.

        Raises:
            ToolError: if it cannot be started, or too many run already.
        """
        ...

    def list(self) -> Sequence[Job]:
        """All of them, ended ones too, in the order of their starting."""
        ...

    async def read(self, job: str, wait_s: float = 0.0) -> JobOutput:
        """What was printed since the last read; waits that long for something, or for its end.

        Raises:
            ToolError: if there is no such job.
        """
        ...

    async def send(self, job: str, data: bytes, *, close: bool = False) -> Job:
        """Write to its input, and close that afterwards where asked.

        Raises:
            ToolError: if there is no such job, or it reads no more.
        """
        ...

    async def kill(self, job: str) -> Job:
        """End it with everything it has started.

        Raises:
            ToolError: if there is no such job.
        """
        ...

    async def close(self) -> None:
        """The session ends: end all that are not kept."""
        ...


class BlobWriter(Protocol):
    """A result that is being kept."""

    @property
    def id(self) -> str:
        """Its id."""
        ...

    def write(self, text: str) -> None:
        """Add to it; what is beyond the store's limit is counted and left out. Does not raise."""
        ...

    def close(self) -> None:
        """It is whole; may be called twice."""
        ...


class Blobs(Protocol):
    """Results that are kept whole; the model names one as `result:ID`."""

    def begin(self) -> BlobWriter | None:
        """Begin one; None where nothing can be kept (disk full)."""
        ...

    def put(self, text: str) -> str | None:
        """Keep a text; its id, None where nothing can be kept."""
        ...

    def path(self, blob: str) -> str | None:
        """The file that holds it; None when there is none of that id."""
        ...


class Snapshots(Protocol):
    """What files were before and after each step of a session, so that it can be undone."""

    async def prepare(self) -> None:
        """Do ahead of the first step what it would wait for; may be cancelled at any moment.

        Never raises: what cannot be done now is done, or said, with the first step.
        """
        ...

    async def begin(self, attempt: Attempt) -> str | None:
        """Hold what there is before a call runs; waits for a capture that is still going.

        Never raises: what cannot be held is said. Returns words for the user where there are any.
        """
        ...

    def end(self, call: str) -> None:
        """The call has ended, however."""
        ...

    async def settle(self) -> Sequence[str]:
        """Capture what ended calls have left, while the model answers; the paths that changed."""
        ...

    async def steps(self) -> Sequence[Step]:
        """The steps that changed something, in order."""
        ...

    async def plan(self, numbers: Sequence[int], *, over: bool = False) -> UndoPlan:
        """What taking back these steps would do; with `over` the conflicts too.

        Raises:
            ToolError: for a step there is none of.
        """
        ...

    async def undo(self, plan: UndoPlan, title: str, record: str, head: str = "") -> Step | None:
        """Do what was planned; itself a step, None when it changes nothing.

        `record` and `head` are the conversation's place after and before.

        Raises:
            ToolError: if something was changed since the plan was made; nothing is changed then.
        """
        ...


class Web(Protocol):
    """The public web; addresses of private networks and of this machine are refused."""

    async def fetch(self, request: WebRequest) -> WebResponse:
        """Ask. Redirects are followed as long as they stay with the host.

        Raises:
            ToolError: for an address that may not be asked, and when there is no answer.
        """
        ...


# ---------------------------------------------------------------- tools


class Target(msgspec.Struct, frozen=True):
    """A place a call would touch, for the gate to judge."""

    resolution: Resolution
    operation: Operation


class Action(Protocol):
    """A call that has been checked and is ready to run, but has not run.

    The gate judges the targets, the question shows the view, and `run` acts on exactly what was
    judged: it checks `digest` again and refuses if anything changed in between.
    """

    @property
    def targets(self) -> Sequence[Target]:
        """The places it would touch."""
        ...

    @property
    def view(self) -> View | None:
        """The real thing for the question: the diff, the whole command."""
        ...

    @property
    def digest(self) -> str:
        """Hash of what will run and on what."""
        ...

    def bind(self, still: Callable[[], bool]) -> None:
        """What an approval rests on is as it was while this says so; looked at as late as can be."""
        ...

    async def run(self, confinement: Confinement) -> Done | Failed:
        """Do it; programs it starts are confined like this.

        Raises:
            ToolError: when it cannot be done, or is not any more what was approved; becomes the
                call's failed outcome.
        """
        ...

    def close(self) -> None:
        """Let go of what it holds open, whether or not it ran."""
        ...


class ToolContext(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool may use."""

    workspace: Workspace
    processes: Processes
    sandbox: Sandbox
    progress: Callable[[str], None]
    """More text to show while the call runs."""
    command_timeout_s: float = 120.0
    index: Index | None = None
    """What is known of the whole project, where somebody keeps it."""
    structure: Structure | None = None
    """What source code defines, where somebody can tell."""
    diagnostics: Diagnostics | None = None
    """What is wrong with a file, where somebody can tell."""
    blobs: Blobs | None = None
    """Where results are kept whole."""
    jobs: Jobs | None = None
    """Commands in the background."""
    asker: "Asker | None" = None
    """The user."""
    web: Web | None = None
    """The public web."""
    tools: "Mapping[str, Tool]" = {}
    """All tools of the run, by name."""
    user_notes: str = ""
    """The user's own file of rules for all projects."""


class Tool(Protocol):
    """Something the model can ask for."""

    @property
    def spec(self) -> ToolSpec:
        """What it declares."""
        ...

    def summarize(self, arguments: JsonObject) -> str:
        """One line for eyes: what this call does. Must not raise, whatever the arguments."""
        ...

    async def prepare(self, arguments: JsonObject, context: ToolContext) -> Action:
        """Check everything that can be checked before the question: the file exists, the text is unique.

        Raises:
            ToolError: with words for the model; nothing was changed.
        """
        ...


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A call that is ready to run, as the gate is asked about it."""

    call: ToolCall
    spec: ToolSpec
    action: Action
    summary: str
    """One line for eyes."""


class Shortfall(msgspec.Struct, frozen=True, kw_only=True):
    """A command that failed, most likely because of what its sandbox kept it from."""

    given: Confinement
    """What it ran with."""
    denied: tuple[SandboxDenied, ...]


class Gate(Protocol):
    """Decides whether a call may run."""

    async def decide(self, proposal: Proposal) -> Denied | Corrected | Confinement:
        """A confinement: it may run, and what it starts may reach so far. Asks where the rules say so."""
        ...

    async def widen(self, proposal: Proposal, short: Shortfall) -> Confinement | Corrected | None:
        """What the user grants a command that its sandbox kept from something; None: nothing more.

        The narrowest grant is offered first. It counts for this very action, once, unless the user
        says otherwise.
        """
        ...


class Asker(Protocol):
    """Asks the user."""

    async def ask(self, question: Question) -> Answer | None:
        """The answer; None when there is nobody to ask."""
        ...


# ---------------------------------------------------------------- memory


class Journal(Protocol):
    """A session's history: append-only, one writer."""

    @property
    def session(self) -> str:
        """The session's id."""
        ...

    @property
    def entries(self) -> Sequence[Entry]:
        """The active branch from the root; grows only at its end."""
        ...

    @property
    def ids(self) -> Sequence[str]:
        """The ids of the entries' records, in the same order."""
        ...

    @property
    def labels(self) -> Mapping[str, str]:
        """The records that have a name for people, by it, branches that were left included."""
        ...

    @property
    def notices(self) -> Sequence[str]:
        """What people have to know of it: what was repaired or left out, that it is not kept. It grows."""
        ...

    async def move(self, record: str) -> None:
        """Make the branch that ends in that record the active one; nothing is forgotten.

        The next entry follows it. `entries` and `ids` are new sequences from then on.

        Raises:
            SessionError: if there is no such record, or it could not be written down.
        """
        ...

    async def append(self, entry: Entry, *, durable: bool = False) -> Record:
        """Write an entry at the end of the active branch; it survives a kill of the process.

        With `durable` it survives a loss of power too.

        Raises:
            SessionError: if it could not be written (disk full, folder gone), or if what
                `sync_soon` began has failed.
        """
        ...

    def sync_soon(self) -> None:
        """Begin to make everything appended so far survive a loss of power; wait for nothing."""
        ...


AskModel: TypeAlias = Callable[[str, int], Awaitable[tuple[Assistant, Failure | None]]]
"""Asks the model, on the way of every turn, what these words of hame's say about the conversation.

The second argument is how many tokens the answer may have. What came is returned beside the failure.
"""
CountTokens: TypeAlias = Callable[[ModelRequest], Awaitable[int | None]]
"""Has the tokens of a request counted by who would answer it; None where they are not counted."""
WriteEntry: TypeAlias = Callable[[Entry], Awaitable[object]]
"""Journals an entry."""


class Context(Protocol):
    """What the model sees: a projection of the journal that fits its window."""

    def frame(self, system: str, tools: Sequence[ToolSpec]) -> None:
        """What goes with every request besides the messages; said at the start of each run."""
        ...

    async def fit(self, entries: Sequence[Entry], facts: ModelFacts) -> tuple[Message, ...]:
        """The messages to send.

        Successive calls with a growing history keep the earlier messages, until `shorten` has
        written an entry.
        """
        ...

    def admit(self, outcome: Outcome, facts: ModelFacts, among: int = 1) -> Outcome:
        """An outcome as the history takes it: what is too large is kept aside.

        `among` is how many calls its answer asked for.
        """
        ...

    def admit_message(self, message: User, facts: ModelFacts) -> User:
        """A message of the user's as the history takes it."""
        ...

    def is_full(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether room should be made before the next request."""
        ...

    def is_doubtful(self, entries: Sequence[Entry], facts: ModelFacts) -> bool:
        """Whether only an exact count can tell if the next request fits: an estimate near the edge."""
        ...

    def counted(self, entries: Sequence[Entry], tokens: int) -> None:
        """The provider has counted the next request."""
        ...

    def overflowed(self, facts: ModelFacts, kind: ErrorKind) -> None:
        """The server said that the last request was too large: `shorten` will go further."""
        ...

    async def shorten(
        self,
        entries: Sequence[Entry],
        facts: ModelFacts,
        ask: AskModel,
        write: WriteEntry,
        *,
        focus: str | None = None,
    ) -> Shortened | None:
        """Make room by entries that change what is shown; None when there is nothing to gain.

        With `focus`, even an empty one, the user asks for a summary whatever the window holds.
        """
        ...

    def demands_in(self, words: str, record: str, at: float) -> Sequence[Constraint]:
        """The standing demands in a message of the user's that are not held yet."""
        ...

    def constraints(self, entries: Sequence[Entry]) -> Sequence[Constraint]:
        """The demands that hold."""
        ...

    def next_constraint(self, entries: Sequence[Entry]) -> str:
        """Id for a demand that is added by hand."""
        ...

    def report(self, entries: Sequence[Entry], facts: ModelFacts) -> WindowReport:
        """What fills the window now, for people."""
        ...

    def missing_demands(self, messages: Sequence[Message]) -> Sequence[Constraint]:
        """Those that hold and are not said anywhere in these messages."""
        ...
