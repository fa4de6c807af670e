"""What backends reach their services with: facts, connections, questions beside the conversation."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from hame.app.grounding import Grounding
from hame.app.trying import Trials
from hame.backends.address import origin_of
from hame.base.capability import Embeddings
from hame.base.model import Endpoint, ModelFacts, ModelListing, Quirk, ToolSupport, Vendor
from hame.base.ports import Index, Model, ModelRequest
from hame.base.settings import ProviderSettings, Settings
from hame.llm.asking import Line
from hame.llm.catalog import ShippedCatalogue
from hame.llm.client import HttpModel, connect
from hame.llm.codecs import codec
from hame.llm.listing import check_key, list_models


class Reach:
    """Implements `hame.backends.served.Connections`."""

    def __init__(
        self,
        settings: Settings,
        catalogue: ShippedCatalogue,
        line: Line,
        *,
        index: Index,
        tried: str,
    ) -> None:
        """Take what it goes by; `tried` is the file that keeps how models were found to call tools."""
        self._settings = settings
        self._catalogue = catalogue
        self._line = line
        self._index = index
        self.trials = Trials(tried, line)
        """How local models call tools."""
        self.tell: Callable[[str], None] | None = None
        """Says to the user what takes a while; without it no model is tried."""
        self.warm: Callable[[str], None] = lambda _: None
        """Gets ready to reach an address."""

    def facts(self, vendor: Vendor, model: str) -> ModelFacts:
        """What is known of a model, with what the user set for it."""
        facts = self._catalogue.facts(vendor, model)
        own = self._settings.providers.get(vendor.id, ProviderSettings())
        facts = replace(
            facts,
            context_window=own.context_window or facts.context_window,
            num_gpu=own.num_gpu,
            keep_alive=own.keep_alive,
        )
        return self.with_tools(facts)

    def with_tools(self, facts: ModelFacts) -> ModelFacts:
        """The facts as `--tools` and `--no-tools` have them."""
        if self._settings.tools is None:
            return facts
        return replace(
            facts, tools=ToolSupport.NATIVE if self._settings.tools else ToolSupport.TEXT
        )

    async def learn(self, vendor: Vendor, facts: ModelFacts, endpoint: Endpoint) -> ModelFacts:
        """The facts, with what a server of the user's own says of the model, and how it calls tools.

        Not tried is a model whose server says that it calls tools: the first question is the user's, and
        what it prints all the same is read as a call. `hame models MODEL --try` tries it.

        Raises:
            ConfigError: if the model is none that can hold a conversation.
        """
        if not vendor.local and Quirk.PRINTS_CALLS not in vendor.quirks:
            return facts  # A vendor's own service: the catalogue knows, or nobody does.
        from hame.llm.serverfacts import ask_about

        facts = await ask_about(facts, endpoint, self._line.http)
        if self._settings.tools is not None:
            return self.with_tools(facts)
        if not facts.local:
            return facts
        place = origin_of(endpoint.base_url)
        known = self.trials.known(facts, place)
        told = facts.tools_told and facts.tools is ToolSupport.NATIVE
        if known is not None or self.tell is None or (told and not self.trials.again):
            return known or facts
        constraints = vendor.constraints
        return await self.trials.make(facts, endpoint, constraints, self.tell, place=place)

    async def check(self, vendor: Vendor, endpoint: Endpoint) -> None:
        """Ask for what only a good key gets.

        Raises:
            ModelError: if it was refused or could not be asked.
        """
        await check_key(
            f"{endpoint.base_url}/{vendor.check_path}",
            endpoint,
            self._line.http,
            self._line.clock,
            provider=vendor.display_name,
        )

    def connect(self, facts: ModelFacts, endpoint: Endpoint) -> Model:
        """A model that is asked over HTTP."""
        self.warm(endpoint.base_url)
        return self.ask(facts, endpoint)

    def ask(self, facts: ModelFacts, endpoint: Endpoint) -> HttpModel:
        """The same, of a server that runs already or is asked later."""
        return connect(facts, endpoint, self._line, existing=Grounding(self._index))

    async def count(
        self, facts: ModelFacts, endpoint: Endpoint, request: ModelRequest
    ) -> int | None:
        """Tokens of a request as a service counts them; None where it does not, or not in time."""
        return await self.ask(facts, endpoint).count_tokens(request)

    async def embed(
        self, facts: ModelFacts, endpoint: Endpoint, texts: Sequence[str]
    ) -> Embeddings:
        """Texts as vectors.

        Raises:
            ConfigError: on a wire that has none.
            ModelError: if it was refused, or could not be asked.
        """
        from hame.llm.embedding import embed  # Few ask for that.

        way = codec(facts.wire)
        return await embed(
            way, facts, endpoint, texts, http=self._line.http, clock=self._line.clock
        )

    async def list_models(self, vendor: Vendor, endpoint: Endpoint) -> Sequence[ModelListing]:
        """What a service lists; of one that has no list, the rows of the catalogue.

        Raises:
            ModelError: if it could not be asked.
        """
        if not vendor.lists:
            return self._catalogue.listings(vendor.id)
        return await list_models(
            codec(vendor.wire),
            endpoint,
            self._line.http,
            self._line.clock,
            provider=vendor.display_name,
        )
