"""How servers list their models."""

from collections.abc import Mapping, Sequence

from hame.base.json import JsonObject
from hame.base.model import ModelListing


def listing(
    path: str, headers: Mapping[str, str], models: Sequence[ModelListing]
) -> JsonObject | None:
    """The body for a GET of this path; None when it is no list of models.

    OpenAI and Anthropic share a path: Anthropic's clients are known by their version header.
    """
    if path.endswith("/api/tags"):
        return {"models": [{"name": each.id, "model": each.id, "size": 1} for each in models]}
    if not path.endswith("/models"):
        return None
    if "x-goog-api-key" in headers or path.endswith("/v1beta/models"):
        return {"models": [_gemini(each) for each in models]}
    if "anthropic-version" in headers:
        entries = [
            {"type": "model", "id": each.id, "display_name": each.display_name or each.id}
            for each in models
        ]
        return {"data": entries, "has_more": False}
    return {"object": "list", "data": [_openai(each) for each in models]}


def _gemini(model: ModelListing) -> JsonObject:
    return {
        "name": f"models/{model.id}",
        "displayName": model.display_name or model.id,
        "inputTokenLimit": model.context_window,
        "outputTokenLimit": model.max_output,
        "supportedGenerationMethods": ["generateContent"],
    }


def _openai(model: ModelListing) -> JsonObject:
    entry: JsonObject = {"id": model.id, "object": "model", "created": 1, "owned_by": "scripted"}
    return (
        entry if model.context_window is None else {**entry, "context_length": model.context_window}
    )
