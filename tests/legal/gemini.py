"""What Gemini demands of contents: https://ai.google.dev/api/caching#Content."""

from typing import Any

from hame.base.model import ModelFacts


def check(body: Any, facts: ModelFacts) -> None:
    """Alternation, parts of one kind each, responses right after their calls, signatures."""
    check_contents(body["contents"], third="gemini-3" in facts.model)


def check_contents(sent: list[dict], *, third: bool) -> None:
    assert sent[0]["role"] == sent[-1]["role"] == "user"
    calls: list[dict] = []
    for content, following in zip(sent, [*sent[1:], None], strict=True):
        assert content["parts"]
        assert following is None or content["role"] != following["role"]
        responses = [
            part["functionResponse"] for part in content["parts"] if "functionResponse" in part
        ]
        if content["role"] == "user":
            kinds = ["functionResponse" in part for part in content["parts"]]
            assert kinds == sorted(kinds, reverse=True), "a response stands after other parts"
            assert [(r["id"], r["name"]) for r in responses] == [
                (c["id"], c["name"]) for c in calls
            ]
            for response in responses:
                (said,) = response["response"].values()
                assert said
        else:
            assert not responses
        calls = _check_parts(content, third=third)


def _check_parts(content: dict, *, third: bool) -> list[dict]:
    calls = []
    for part in content["parts"]:
        kinds = set(part) - {"thought", "thoughtSignature"}
        assert len(kinds) == 1
        assert part.get("text") != "" or part.get("thoughtSignature")
        assert part.get("thoughtSignature") != ""
        if "functionCall" in part:
            assert isinstance(part["functionCall"]["args"], dict)
            assert calls or part.get("thoughtSignature") or not third or _signed(content)
            calls.append(part["functionCall"])
    return calls if content["role"] == "model" else []


def _signed(content: dict) -> bool:
    return any("functionCall" in part and part.get("thoughtSignature") for part in content["parts"])
