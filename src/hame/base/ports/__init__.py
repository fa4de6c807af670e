"""Every contract between rooms.

A room implements some of these and uses others; only `hame.app` knows who implements what. A fake in
`hame.testing` passes the same contract suite as the real thing.
"""

from hame.base.ports.clock import Clock, Emit
from hame.base.ports.memory import AskModel, Context, CountTokens, Journal, WriteEntry
from hame.base.ports.models import (
    Backend,
    Catalogue,
    Codec,
    Decoder,
    Frame,
    Http,
    HttpRequest,
    HttpResponse,
    ListsModels,
    Model,
    ModelRequest,
)
from hame.base.ports.processes import (
    Cell,
    Enclosure,
    Gateway,
    Inmates,
    Jobs,
    Process,
    Processes,
    Sandbox,
)
from hame.base.ports.tools import (
    Action,
    Asker,
    Gate,
    Proposal,
    Shortfall,
    Target,
    Tool,
    ToolContext,
    Web,
)
from hame.base.ports.workspace import (
    Blobs,
    BlobWriter,
    Diagnostics,
    FileChange,
    Index,
    Located,
    Overlay,
    SearchQuery,
    Snapshots,
    Structure,
    Workspace,
)

__all__ = [
    "Action", "AskModel", "Asker", "Backend", "BlobWriter", "Blobs", "Catalogue", "Cell",
    "Clock", "Codec", "Context", "CountTokens", "Decoder", "Diagnostics", "Emit", "Enclosure",
    "FileChange", "Frame", "Gate", "Gateway", "Http", "HttpRequest", "HttpResponse", "Index",
    "Inmates", "Jobs", "Journal", "ListsModels", "Located", "Model", "ModelRequest", "Overlay",
    "Process", "Processes", "Proposal", "Sandbox", "SearchQuery", "Shortfall", "Snapshots",
    "Structure", "Target", "Tool", "ToolContext", "Web", "Workspace", "WriteEntry",
]  # fmt: skip
