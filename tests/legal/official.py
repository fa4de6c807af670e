"""Requests held against the parameter types of the vendors' own SDKs (the extra `sdk`).

The vendors' servers take members that their published types do not know; each is named here.
"""

import json
from copy import deepcopy
from typing import Any

import pytest


def check(wire: str, body: Any) -> None:
    """Whether the vendor's own types take a request; skips the test where they are not installed."""
    _CHECKS[wire](deepcopy(body))


def _anthropic(body: Any) -> None:
    _same("anthropic.types.message_create_params", "MessageCreateParamsStreaming", body)


def _responses(body: Any) -> None:
    for item in body["input"]:
        if item.get("type") == "message":
            # Not needed by the server: https://github.com/openai/codex leaves them out.
            item.update(id="msg_1", status="completed")
            for part in item["content"]:
                if part["type"] == "output_text":
                    part["annotations"] = []
    _same("openai.types.responses.response_create_params", "ResponseCreateParamsStreaming", body)


def _chat(body: Any) -> None:
    for message in body["messages"]:
        # Of the servers that follow OpenAI, not of OpenAI.
        message.pop("reasoning_content", None)
        message.pop("reasoning_details", None)
        if message["role"] == "tool":
            message.pop("name", None)
        for call in message.get("tool_calls", ()):
            call.pop("extra_content", None)
    # OpenRouter's own, which its compatible servers are asked by.
    body.pop("usage", None)
    _same("openai.types.chat.completion_create_params", "CompletionCreateParamsStreaming", body)


def _gemini(body: Any) -> None:
    types = pytest.importorskip("google.genai.types", reason="needs the official SDK")
    # The types refuse members that they do not know.
    if "systemInstruction" in body:
        types.Content.model_validate_json(json.dumps(body.pop("systemInstruction")))
    for content in body.pop("contents"):
        types.Content.model_validate_json(json.dumps(content))
    for tool in body.pop("tools", ()):
        types.Tool.model_validate_json(json.dumps(tool))
    config = types.GenerateContentConfig.model_validate_json(
        json.dumps(body.pop("generationConfig", {}))
    )
    thinking = config.thinking_config
    assert thinking is None or (
        thinking.thinking_level is None or thinking.thinking_level in types.ThinkingLevel
    )
    types.ToolConfig.model_validate_json(json.dumps(body.pop("toolConfig", {})))
    types.GenerateContentConfig(cached_content=body.pop("cachedContent", None))
    assert not body


def _ollama(body: Any) -> None:
    types = pytest.importorskip("ollama._types", reason="needs the official SDK")
    for message in body["messages"]:
        message.pop("tool_call_id", None)  # newer than the SDK's types
        for made in message.get("tool_calls", ()):
            made.pop("id")
    official = types.ChatRequest(**body).model_dump(exclude_none=True)
    for key in ("model", "stream", "messages", "options", "think"):
        assert official.get(key) == body.get(key)
    for tool, declared in zip(official.get("tools", []), body.get("tools", []), strict=True):
        assert tool["function"]["name"] == declared["function"]["name"]
        parameters = declared["function"]["parameters"]
        assert set(tool["function"]["parameters"]["properties"]) == set(parameters["properties"])


def _same(module: str, name: str, body: Any) -> None:
    """A member that the types do not know is dropped by the validator, so it shows."""
    pydantic = pytest.importorskip("pydantic", reason="needs the official SDK and pydantic")
    types = pytest.importorskip(module, reason="needs the official SDK")
    assert _plain(_adapter(pydantic, getattr(types, name)).validate_python(body)) == body


_ADAPTERS: dict[Any, Any] = {}


def _adapter(pydantic: Any, kind: Any) -> Any:
    """Made once: it takes a second."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = pydantic.TypeAdapter(kind)
    return _ADAPTERS[kind]


def _plain(value: Any) -> Any:
    """What a validator returned as lists and dicts; it hands out iterators and models as well."""
    if hasattr(value, "model_dump"):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, str | bytes | int | float) or value is None:
        return value
    return [_plain(inner) for inner in value]


_CHECKS = {
    "anthropic_messages": _anthropic,
    "openai_chat": _chat,
    "openai_responses": _responses,
    "gemini": _gemini,
    "ollama": _ollama,
}
