"""Settings: every key a user may set. All of them are listed here.

`hame.config` fills this from defaults, the user's file, the project's file, the environment and the
flags, in that order; nobody else reads any of them. Each field's docstring is what
`hame config` prints for it.
"""

from enum import StrEnum

import msgspec

from hame.base.model import CacheLifetime, Effort
from hame.base.run import Limits


class Mode(StrEnum):
    """What runs without a question."""

    ASK = "ask"
    """Reads run; everything else asks."""
    AUTO = "auto"
    """Edits in the project and confined commands run; what leaves asks."""
    PLAN = "plan"
    """Reads only; the model proposes."""


class SandboxChoice(StrEnum):
    """What confines commands."""

    AUTO = "auto"
    """The best that works on this machine."""
    BUBBLEWRAP = "bubblewrap"
    LANDLOCK = "landlock"
    NONE = "none"
    """Nothing: hame itself runs in a container or a virtual machine that holds it back."""


class OutputFormat(StrEnum):
    """What a one-shot run prints."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


class ProviderSettings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """`[providers.NAME]`: a server of the user's own, or other values for a known one."""

    base_url: str | None = None
    """Where it is reached, with `/v1` for OpenAI-compatible servers."""
    api_key: str | None = None
    """The key itself; an environment variable is the better place."""
    api_key_env: str | None = None
    """Name of the environment variable that holds the key."""
    api_key_cmd: str | None = None
    """A shell command that prints the key or a short-lived token; run when the key is needed."""
    allow_http: bool = False
    """Send requests to this server unencrypted although its name does not say that it is near."""
    wire: str = "openai_chat"
    """How it is spoken to: openai_chat for OpenAI-compatible servers."""
    context_window: int | None = None
    """Tokens its models take, where the catalogue does not know."""
    model: str | None = None
    """The model to use when only the provider is named."""
    num_gpu: int | None = None
    """Layers that Ollama puts on the GPU; 0 keeps it off the GPU, unset is its own choice."""
    keep_alive: str | None = None
    """How long Ollama keeps a model loaded after an answer (`30m`, `-1` for ever)."""


class Settings(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """All settings of one process."""

    model: str | None = None
    """`backend/model`; unset: the one key that is set, else a local server, else the built-in model."""
    fallbacks: tuple[str, ...] = ()
    """Models to ask, in order, when the chosen one's server will not answer; none unless listed."""
    mode: Mode = Mode.ASK
    """What runs without a question: ask, auto or plan."""
    sandbox: SandboxChoice = SandboxChoice.AUTO
    """What confines commands: auto, bubblewrap, landlock, or none when hame itself runs in a container or a
    virtual machine that holds it back; then mode auto asks about no command."""
    effort: Effort | None = None
    """How much the model should think: none, minimal, low, medium, high or max."""
    tools: bool | None = None
    """Hand tools to the model in its server's own way; false: in words. Unset: as hame's try says."""
    web_search: bool = False
    """Let the provider search the web by itself, where it offers that; it may cost extra."""
    cache_lifetime: CacheLifetime | None = None
    """What Anthropic keeps for an hour instead of five minutes: short (nothing), prefix or long (all).
    With prefix or long, tools and system prompt are stored with Gemini for an hour, which costs extra,
    once its own caching has failed for so many answers that storing would have cost less.
    Unset: prefix in a conversation, short otherwise."""
    max_steps: int = 100
    """Model requests in one run."""
    max_tokens: int | None = None
    """Tokens, input and output together, that one run may use."""
    max_output_tokens: int | None = None
    """Tokens of one answer; unset: the model's own limit, at most 32,000."""
    max_time_s: float | None = None
    """Seconds one run may take."""
    max_cost_usd: float | None = None
    """US dollars one run may cost; needs a model whose price is known."""
    max_steps_per_day: int | None = None
    """Model requests in all runs of a day together."""
    max_tokens_per_day: int | None = None
    """Tokens, input and output, that all runs of a day may use together."""
    max_time_per_day_s: float | None = None
    """Seconds that all runs of a day may take together."""
    max_cost_per_day_usd: float | None = None
    """US dollars that all runs of a day may cost together, as far as prices are known."""
    max_retry_wait_s: float = 60.0
    """Longest wait a server may ask for before hame gives up, in seconds."""
    first_byte_timeout_s: float | None = None
    """Seconds of silence before the first byte of an answer; unset: by model."""
    idle_timeout_s: float | None = None
    """Seconds of silence between two pieces of an answer; unset: by model."""
    command_timeout_s: float = 120.0
    """Seconds a command may run when the model names no limit."""
    ask_timeout_s: float = 1800.0
    """Seconds a question waits for its answer; then the call is refused."""
    add_dirs: tuple[str, ...] = ()
    """Folders beside the project that may be read and written."""
    color: bool | None = None
    """Colours in the terminal; unset: when it is one and NO_COLOR is not set."""
    accent: str = "cyan"
    """Colour of hame's own words in the terminal."""
    show_thinking: bool = True
    """Show the model's reasoning in the terminal."""
    verbose: bool = False
    """Log what is sent and received (keys masked) to the log file."""
    ca_file: str | None = None
    """PEM file of certificate authorities to trust besides the system's."""
    proxy: str | None = None
    """Proxy URL; unset: HTTPS_PROXY, HTTP_PROXY and NO_PROXY as usual."""
    providers: dict[str, ProviderSettings] = {}
    """Servers of the user's own, by name."""

    @property
    def limits_days(self) -> bool:
        """Whether there is a limit for all runs of a day together."""
        per_day = (
            self.max_steps_per_day,
            self.max_tokens_per_day,
            self.max_time_per_day_s,
            self.max_cost_per_day_usd,
        )
        return any(limit is not None for limit in per_day)

    def limits(self) -> Limits:
        """The limits of one run."""
        return Limits(
            steps=self.max_steps,
            output_tokens=self.max_output_tokens,
            total_tokens=self.max_tokens,
            seconds=self.max_time_s,
            cost_usd=self.max_cost_usd,
        )
