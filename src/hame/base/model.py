"""Facts about models: what one can do, what it costs, how it must be spoken to.

A vendor is a row, a wire is a folder, a difference is a named quirk. Limits come from these facts,
never from an address.
"""

from enum import StrEnum
from typing import Literal, TypeAlias

import msgspec
from typing_extensions import override


class Usage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Tokens of one answer, or of many added up.

    Every prompt token is counted in exactly one of `input_uncached`, `cache_read` and the two cache
    writes; `output` includes `reasoning`.
    """

    input_uncached: int = 0
    cache_read: int = 0
    cache_write: int = 0
    """Written with the short lifetime (five minutes)."""
    cache_write_long: int = 0
    """Written with the long lifetime (an hour)."""
    output: int = 0
    reasoning: int = 0
    kept_micro_usd: int = 0
    """Millionths of a US dollar for what the provider stores for hire; no part of the tokens."""
    paid_nano_usd: int | None = None
    """Billionths of a US dollar that the provider itself says it took; None: not said, or not of all."""

    @property
    def paid_usd(self) -> float | None:
        """What the provider itself says it took, in US dollars; None: it did not say."""
        return None if self.paid_nano_usd is None else self.paid_nano_usd / 1e9

    @property
    def input_total(self) -> int:
        """All prompt tokens, cached ones included."""
        return self.input_uncached + self.cache_read + self.cache_write + self.cache_write_long

    def __add__(self, other: "Usage") -> "Usage":
        """Add up two usages, counter by counter."""
        return Usage(
            input_uncached=self.input_uncached + other.input_uncached,
            cache_read=self.cache_read + other.cache_read,
            cache_write=self.cache_write + other.cache_write,
            cache_write_long=self.cache_write_long + other.cache_write_long,
            output=self.output + other.output,
            reasoning=self.reasoning + other.reasoning,
            kept_micro_usd=self.kept_micro_usd + other.kept_micro_usd,
            paid_nano_usd=_paid(self, other),
        )


def _paid(one: Usage, other: Usage) -> int | None:
    """What was paid for both, where it is known of both; for nothing, nothing was paid."""
    said = [each.paid_nano_usd for each in (one, other) if each != Usage()]
    known = [paid for paid in said if paid is not None]
    return sum(known) if known and len(known) == len(said) else None


class Effort(StrEnum):
    """How much a model should think; mapped per model by its facts."""

    NONE = "none"
    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    MAX = "max"


class CacheLifetime(StrEnum):
    """How long a provider that is told so keeps what it has read, counted from its last use.

    Anthropic: five minutes cost a quarter more than not keeping it, an hour costs twice as much; what
    was kept is read for a tenth. Gemini keeps things by itself; except with `SHORT`, tools and system
    prompt are stored for an hour once that has failed for so long that storing would have cost less.
    """

    SHORT = "short"
    """Five minutes: enough from step to step."""
    PREFIX = "prefix"
    """An hour for tools and system prompt, which all sessions share; five minutes for the rest."""
    LONG = "long"
    """An hour for everything: pays where a long conversation often rests for more than five minutes."""


class Quirk(StrEnum):
    """A named way in which a vendor differs from its wire's common form."""

    MAX_COMPLETION_TOKENS = "max_completion_tokens"
    """The output cap is called max_completion_tokens."""
    NO_STREAM_USAGE = "no_stream_usage"
    """stream_options is refused, so it is not sent."""
    NO_TEMPERATURE = "no_temperature"
    REASONING_REPLAY = "reasoning_replay"
    """reasoning_content of earlier answers with tool calls must be sent back."""
    REASONING_DETAILS = "reasoning_details"
    """OpenRouter's reasoning_details go back unchanged."""
    DEVELOPER_ROLE = "developer_role"
    """The system message has the role developer."""
    ALTERNATING_ROLES = "alternating_roles"
    """Two user messages in a row are refused and must be joined."""
    PROMPT_CACHE_KEY = "prompt_cache_key"
    """prompt_cache_key routes requests of one session to one cache (chat; Responses has it always)."""
    NO_PROMPT_CACHE_KEY = "no_prompt_cache_key"
    """A server of the Responses wire that refuses prompt_cache_key."""
    NO_LONG_CACHE = "no_long_cache"
    """A server of the Messages wire that knows no cache lifetime of an hour."""
    NO_REASONING_SUMMARY = "no_reasoning_summary"
    """Summaries of the reasoning are refused (OpenAI, to organisations it has not verified)."""
    TOOL_NAME_IN_RESULT = "tool_name_in_result"
    """A tool result carries the tool's name."""
    SHORT_CALL_IDS = "short_call_ids"
    """Call ids must be nine letters or digits (Mistral)."""
    NO_PARALLEL_CALLS = "no_parallel_calls"
    STRICT_SCHEMA = "strict_schema"
    """Tool schemas are sent in the strict subset."""
    ADAPTIVE_THINKING = "adaptive_thinking"
    """The model decides how much it thinks and takes an effort, not a budget (Claude 4.6 and later)."""
    INTERLEAVED_THINKING = "interleaved_thinking"
    """Thinking between tool calls must be asked for by a beta header (Claude 4 to 4.5)."""
    PRINTS_CALLS = "prints_calls"
    """The server may pass on a call as text, in the words of the model's own template."""
    RENDERS_PROMPTS = "renders_prompts"
    """`/apply-template` and `/tokenize` count a conversation together (llama-server)."""
    SPLITS_MESSAGES = "splits_messages"
    """`/tokenize` takes a conversation (vLLM)."""
    TELLS_COST = "tells_cost"
    """`usage.cost` is what was paid, in US dollars; `usage: {include: true}` asks for it (OpenRouter)."""
    CUTS_SILENTLY = "cuts_silently"
    """A prompt longer than the window is cut without a word (Ollama)."""


class ToolSupport(StrEnum):
    """How a model can be brought to call tools."""

    NATIVE = "native"
    SCHEMA = "schema"
    """The answer is held to a JSON schema: a call, or words."""
    TEXT = "text"
    """Tools are described in words and calls are read out of the answer's text."""
    MASKED = "masked"
    """In single lines, each one of a few that make sense; its server or engine holds it to them."""
    NONE = "none"


class Constraint(StrEnum):
    """How a server is told that an answer is one of a few lines."""

    GBNF = "gbnf"
    """`grammar`, in llama.cpp's own notation."""
    CHOICE = "choice"
    """`structured_outputs.choice` (vLLM)."""
    GUIDED_CHOICE = "guided_choice"
    """`guided_choice` (vLLM before 0.12)."""
    REGEX = "regex"
    """`regex` (SGLang)."""
    SCHEMA = "schema"
    """As a JSON Schema: an object that holds the line."""


class Profile(StrEnum):
    """Which set of tools is advertised."""

    LEAN = "lean"
    STANDARD = "standard"


class Rates(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """US dollars for a million tokens of each kind; None is unknown."""

    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None

    def apply(self, usage: Usage) -> float | None:
        """US dollars for this usage; None when a price that matters is unknown.

        A missing cache price is taken to be the input price: that is what an uncached token costs.
        """
        if self.input is None or self.output is None:
            return None
        read = self.input if self.cache_read is None else self.cache_read
        write = self.input if self.cache_write is None else self.cache_write
        long = write if self.cache_write_long is None else self.cache_write_long
        millions = (
            usage.input_uncached * self.input
            + usage.cache_read * read
            + usage.cache_write * write
            + usage.cache_write_long * long
            + usage.output * self.output
            + usage.kept_micro_usd
        )
        return millions / 1_000_000


class PriceTier(Rates, frozen=True, kw_only=True, omit_defaults=True):
    """Other rates for a request with a long prompt; what they leave out stays as it was."""

    above: int
    """Prompt tokens, cached ones included; a request with more pays these rates for all its tokens."""


Editing: TypeAlias = Literal["edit_file", "apply_patch"]
"""The tool a model was taught to change files with; it is advertised, the other can be found."""


class Price(Rates, frozen=True, kw_only=True, omit_defaults=True):
    """What a model's tokens cost. Unknown is shown as unknown, never as 0."""

    tiers: tuple[PriceTier, ...] = ()
    """The shortest prompt first."""

    def rates(self, prompt_tokens: int) -> Rates:
        """The rates for one request with a prompt of that many tokens."""
        given = {name: getattr(self, name) for name in Rates.__struct_fields__}
        for tier in self.tiers:
            if prompt_tokens > tier.above:
                other = {name: getattr(tier, name) for name in Rates.__struct_fields__}
                given |= {name: rate for name, rate in other.items() if rate is not None}
        return Rates(**given)

    def cost(self, usage: Usage) -> float | None:
        """US dollars for the usage of one request; None when a price that matters is unknown.

        Costs of several requests are added up: the sum of their usages may lie in another tier.
        """
        if not self.tiers:
            return self.apply(usage)
        return self.rates(usage.input_total).apply(usage)


class Timeouts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How long silence is borne, in seconds, before it is a timeout error."""

    connect_s: float = 15.0
    first_byte_s: float = 60.0
    idle_s: float = 60.0
    total_s: float = 1800.0


class ModelFacts(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one model, as a frozen row."""

    backend: str
    """Id of the backend that serves it, the part of `backend/model` before the first slash."""
    model: str
    """The name the server knows it by."""
    wire: str
    display_name: str = ""
    vendor: str = ""
    """Display name of who serves it, for messages."""
    context_window: int | None = None
    """Tokens; None is unknown."""
    max_output: int | None = None
    images: bool = True
    documents: bool = False
    tools: ToolSupport = ToolSupport.NATIVE
    tools_told: bool = False
    """Its own server says so, or it was tried; otherwise a local model is tried once."""
    constraint: Constraint | None = None
    """How its server holds an answer to a few lines; None: it does not, or that is not known."""
    profile: Profile = Profile.STANDARD
    editing: Editing = "edit_file"
    efforts: frozenset[Effort] = frozenset()
    """The levels the model takes; empty: effort is not sent."""
    price: Price | None = None
    timeouts: Timeouts = Timeouts()
    quirks: frozenset[Quirk] = frozenset()
    local: bool = False
    """Runs on this machine: nothing leaves it and nothing is paid."""
    num_gpu: int | None = None
    """Layers that Ollama puts on the GPU; None: as many as it finds right."""
    keep_alive: str | None = None
    """How long Ollama keeps the model loaded (`30m`, `-1` for ever); None: its own default."""
    digest: str = ""
    """What tells this very model from others of its name, where its server says so."""

    @property
    def name(self) -> str:
        """`backend/model`, the name a user chooses it by."""
        return f"{self.backend}/{self.model}"

    def cost(self, usage: Usage) -> float | None:
        """US dollars for the usage of one request; None when a price that matters is unknown.

        What the provider says it took comes first. What runs on this machine costs nothing.
        """
        if usage.paid_usd is not None:
            return usage.paid_usd
        if self.price is not None:
            return self.price.cost(usage)
        told = Quirk.TELLS_COST in self.quirks and usage == Usage()
        return 0.0 if self.local or told else None


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Where a model is reached. The key is sent to this origin and to no other."""

    base_url: str
    """Without a trailing slash; with whatever version path the wire's users write into it."""
    api_key: str | None = None
    headers: tuple[tuple[str, str], ...] = ()
    """Extra headers of the vendor's row or of the user's settings."""
    query: tuple[tuple[str, str], ...] = ()
    """Extra query parameters (Azure's api-version)."""
    key_from: str = ""
    """Where the key comes from, for whom it is refused."""

    @override
    def __repr__(self) -> str:
        """Hide the key: an endpoint may end up in a log."""
        key = "set" if self.api_key else "none"
        return f"Endpoint(base_url={self.base_url!r}, api_key={key})"


class Vendor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A service that serves models: a row of the catalogue, not code."""

    id: str
    """First part of `backend/model`."""
    display_name: str
    wire: str
    base_url: str
    """Without a trailing slash; empty where every user has an address of their own."""
    base_path: str = ""
    """Added to an address of the user's that has no path (`/v1`)."""
    places: tuple[str, ...] = ()
    """Addresses with {VARIABLES} in them; the first whose variables are all set is the base URL."""
    check_path: str = ""
    """A path below the base URL that wants a key, where the list of models is open to everybody."""
    lists: bool = True
    """Whether the service can be asked which models it has; else the catalogue's rows are listed."""
    key_env: tuple[str, ...] = ()
    """Environment variables that may hold the key, the first that is set wins."""
    base_url_env: tuple[str, ...] = ()
    needs_key: bool = True
    free_ending: str = ""
    """How the names of models end that cost nothing there."""
    variant_of: str = ""
    """Id of the vendor whose service this is another way to; then it is never chosen by itself."""
    local: bool = False
    constraints: tuple[Constraint, ...] = ()
    """The ways in which its servers may hold an answer to a few lines; each is tried, the best first."""
    default_model: str | None = None
    """Its strongest current general model."""
    headers: tuple[tuple[str, str], ...] = ()
    timeouts: Timeouts = Timeouts()
    quirks: frozenset[Quirk] = frozenset()
    key_page: str = ""
    """Where a person gets a key."""


class ModelListing(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One model as a server lists it."""

    id: str
    display_name: str = ""
    context_window: int | None = None
    max_output: int | None = None
    owned_by: str = ""
    tools: bool | None = None
    """Whether the server says that the model can call tools; None: it does not say."""
    images: bool | None = None
    price: Price | None = None
    """What the server itself says its tokens cost."""
