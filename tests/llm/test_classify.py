"""Every way in which providers say no, and what it means."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hame.base.errors import ErrorKind
from hame.llm.advice import spoken
from hame.llm.classify import classify_error, classify_response
from hame.llm.errorbody import one_line, read_body, read_error
from hame.llm.waits import worded_wait

K = ErrorKind
NOW = 1_790_000_000.0


def of(status: int, error: object, **headers: str):
    body = error.encode() if isinstance(error, str) else json.dumps(error).encode()
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return classify_response(status, names, body, "Acme", now=NOW)


def openai(message: str = "", **more: object) -> dict[str, object]:
    return {"error": {"message": message, **more}}


def google(status: str, message: str = "", *details: object) -> dict[str, object]:
    return {"error": {"status": status, "message": message, "details": list(details)}}


QUOTA = "You exceeded your current quota, please check your plan and billing details."
PER_MINUTE = {"violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}
PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}


OVERFLOWS = (
    "Prompt contains 65673 tokens, too large for model with 32768 maximum context length",
    "The decoder prompt (length 33000) is longer than the maximum model length of 32768.",
    "The input token count is 1200000 but model only supports up to 1048576.",
    "`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    "`inputs` must have less than 4096 tokens. Given: 5000",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000",
    "Prompt exceeds max length",
    "tokens in request more than max tokens allowed",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "prompt tokens exceed max context",
    "length of prompt_tokens (40000) must be less than max_seq_len (32768).",
)
"""A full context in the words of servers and gateways."""


@pytest.mark.parametrize(
    ("status", "error", "kind"),
    [
        # money
        (402, {"error": {"message": "Insufficient credits", "code": 402}}, K.QUOTA_EXHAUSTED),
        (402, "", K.QUOTA_EXHAUSTED),
        (429, openai(QUOTA, code="insufficient_quota"), K.QUOTA_EXHAUSTED),
        (429, google("RESOURCE_EXHAUSTED", QUOTA), K.QUOTA_EXHAUSTED),
        (429, google("RESOURCE_EXHAUSTED", QUOTA, PER_DAY), K.QUOTA_EXHAUSTED),
        (400, openai("Your credit balance is too low to access the API."), K.QUOTA_EXHAUSTED),
        (403, openai("Billing is not active", type="billing_not_active"), K.QUOTA_EXHAUSTED),
        (429, openai("Insufficient balance or no resource package."), K.QUOTA_EXHAUSTED),
        (403, {"error": "Your team doesn't have any credits or licenses yet."}, K.QUOTA_EXHAUSTED),
        (429, {"error": "you have reached your weekly usage limit"}, K.QUOTA_EXHAUSTED),
        (400, openai("User=x over budget. Spend=10.0", type="budget_exceeded"), K.QUOTA_EXHAUSTED),
        (400, openai("You have reached your specified API usage limits."), K.QUOTA_EXHAUSTED),
        (403, {"statusCode": 403, "message": "Out of call volume quota."}, K.QUOTA_EXHAUSTED),
        (403, openai("Key limit exceeded (total limit)."), K.QUOTA_EXHAUSTED),
        (403, openai("The free tier of the model has been exhausted."), K.QUOTA_EXHAUSTED),
        (429, openai("The limit is reached", type="usage_limit_reached"), K.QUOTA_EXHAUSTED),
        (429, {"error": {"type": "usage_limit_reached", "resets_in_seconds": 9}}, K.RATE_LIMIT),
        # rates
        (429, google("RESOURCE_EXHAUSTED", QUOTA, PER_MINUTE), K.RATE_LIMIT),
        (429, google("RESOURCE_EXHAUSTED", QUOTA, {"retryDelay": "48s"}), K.RATE_LIMIT),
        (429, openai("Quota exceeded: 60 requests per minute. billing details"), K.RATE_LIMIT),
        (429, "", K.RATE_LIMIT),
        (429, openai("Rate limit reached, see billing details at x.test"), K.RATE_LIMIT),
        (400, openai("slow down", type="rate_limit_error"), K.RATE_LIMIT),
        (429, openai("Request too large: Limit 8000, Requested 32979"), K.REQUEST_TOO_LARGE),
        (429, openai("The engine is currently overloaded"), K.OVERLOADED),
        (429, {"message": "Too many tokens, please wait before trying again."}, K.RATE_LIMIT),
        (400, {"__type": "ThrottlingException", "message": "Rate exceeded"}, K.RATE_LIMIT),
        (498, "", K.OVERLOADED),
        (503, openai("Slow Down", code="slow_down"), K.OVERLOADED),
        # keys and rights
        (401, "", K.AUTH),
        (400, openai("API key not valid. Please pass a valid API key."), K.AUTH),
        (403, openai("Invalid API key provided"), K.AUTH),
        (400, {"error": {"message": "x", "details": [{"reason": "API_KEY_INVALID"}]}}, K.AUTH),
        (403, openai("Your API key was reported as leaked."), K.AUTH),
        (403, {"message": "The security token included in the request is expired"}, K.AUTH),
        (403, google("PERMISSION_DENIED", "Method doesn't allow unregistered callers"), K.AUTH),
        (403, {"errors": [{"code": 10000, "message": "Authentication error"}]}, K.AUTH),
        (400, google("FAILED_PRECONDITION", "User location is not supported."), K.PERMISSION),
        (403, openai("You do not have access"), K.PERMISSION),
        (403, "<html><title>Forbidden</title></html>", K.PERMISSION),
        (403, openai("Your input was flagged, requires moderation"), K.CONTENT_FILTER),
        # size
        (413, "<html><head><title>413 Too Large</title></head></html>", K.REQUEST_TOO_LARGE),
        (413, openai("prompt is too long: 210000 tokens > 200000 maximum"), K.CONTEXT_OVERFLOW),
        (400, openai("prompt is too long: 210000 tokens > 200000 maximum"), K.CONTEXT_OVERFLOW),
        (400, openai("x", code="context_length_exceeded"), K.CONTEXT_OVERFLOW),
        (400, openai("the request exceeds the available context size"), K.CONTEXT_OVERFLOW),
        *((400, openai(words), K.CONTEXT_OVERFLOW) for words in OVERFLOWS),
        (500, openai("context shift is disabled"), K.CONTEXT_OVERFLOW),
        (400, {"message": {"detail": [{"msg": OVERFLOWS[0]}]}}, K.CONTEXT_OVERFLOW),
        (400, openai("max_tokens is too large: this model supports 16384"), K.INVALID_REQUEST),
        (400, openai("Invalid 'stop': the sequence length should be 4"), K.INVALID_REQUEST),
        (400, openai("Input should be a valid string"), K.INVALID_REQUEST),
        (422, openai("Input tokens exceed the configured limit of 272000 tokens"), None),
        # what is not there
        (404, "", K.NOT_FOUND),
        (405, "", K.NOT_FOUND),
        (410, openai("gone"), K.NOT_FOUND),
        (400, openai("The model `x` does not exist"), K.NOT_FOUND),
        (400, openai("unknown model 'x'"), K.NOT_FOUND),
        (400, openai("The model `x` has been decommissioned"), K.NOT_FOUND),
        (400, {"message": "The provided model identifier is invalid."}, K.NOT_FOUND),
        (400, openai("x", code="image_file_not_found"), K.INVALID_REQUEST),
        (400, openai("x", code="model_not_supported"), K.NOT_FOUND),
        (400, openai("Request payload size exceeds the limit: 1 bytes"), K.REQUEST_TOO_LARGE),
        # the server
        (408, "", K.TIMEOUT),
        (409, openai("conflict"), K.SERVER_ERROR),
        (425, "", K.SERVER_ERROR),
        (500, openai("Internal server error", type="api_error"), K.SERVER_ERROR),
        (502, "<html><title>502 Bad Gateway</title></html>", K.SERVER_ERROR),
        (503, openai("The model is overloaded. Please try again later."), K.OVERLOADED),
        (503, "upstream connect error", K.SERVER_ERROR),
        (504, "", K.SERVER_ERROR),
        (529, "", K.OVERLOADED),
        # the request
        (400, openai("messages: roles must alternate"), K.INVALID_REQUEST),
        (422, {"detail": [{"loc": ["body", "n"], "msg": "Input should be 1"}]}, K.INVALID_REQUEST),
        (418, "", K.INVALID_REQUEST),
        (400, openai("bad call", code="tool_use_failed"), K.TOOL_USE_FAILED),
        (400, openai("x", code="content_filter"), K.CONTENT_FILTER),
        (400, openai("x", code="cyber_policy"), K.CONTENT_FILTER),
        (400, openai("Content Exists Risk"), K.CONTENT_FILTER),
        (400, openai("potentially unsafe or sensitive content in input"), K.CONTENT_FILTER),
        (403, {"error": "Content violates usage guidelines."}, K.CONTENT_FILTER),
    ],
)
def test_each_status_and_body_has_its_kind(status, error, kind):
    failure = of(status, error)
    if kind is None:
        assert failure.kind in {K.CONTEXT_OVERFLOW, K.INVALID_REQUEST}
        return
    assert failure.kind is kind
    assert failure.status == status
    assert failure.provider == "Acme"
    assert "Acme" in failure.message
    assert failure.hint
    assert "\n" not in failure.message + failure.hint + failure.said
    passing = {K.RATE_LIMIT, K.OVERLOADED, K.SERVER_ERROR, K.TIMEOUT}
    assert failure.retryable is (kind in passing)


def test_a_server_that_says_not_to_ask_again_is_not_asked_again():
    assert not of(500, "", x_should_retry="false").retryable
    assert of(500, "", x_should_retry="true").retryable


# ---------------------------------------------------------------- shapes


@pytest.mark.parametrize(
    ("error", "said"),
    [
        ({"error": {"message": "boom"}}, "boom"),
        ({"error": "boom"}, "boom"),
        ({"message": "boom", "object": "error"}, "boom"),
        ({"detail": "boom"}, "boom"),
        ({"detail": [{"loc": ["body", "model"], "msg": "boom"}]}, "model: boom"),
        ({"errors": [{"message": "boom"}]}, "boom"),
        ([{"error": {"message": "boom"}}], "boom"),
        ({"error": '{"error": {"message": "boom"}}'}, "boom"),
        ({"error": "{not json"}, "{not json"),
        ({"error": {"error": {"message": "boom"}}}, "boom"),
        ("boom", "boom"),
        ('{"error": {"message": "boom"}}', "boom"),
        ("<html><title>boom\n</title></html>", "boom"),
        ("<p>boom</p>", "boom"),
        ({"error": {"message": "Provider returned error", "metadata": {"raw": "boom"}}}, "boom"),
        (
            {"error": {"message": "Provider returned error", "metadata": {"raw": '{"error":"x"}'}}},
            "x",
        ),
        ("line one\nline two", "line one"),
        ("", ""),
        ([], ""),
        (None, ""),
        (17, ""),
    ],
)
def test_the_words_are_found_in_any_shape(error, said):
    assert classify_error(error, "Acme").said == said


def test_the_words_are_one_line_without_tricks():
    assert one_line("a\x1b[2Kb\u202ec \u200b d") == "a [2Kb c d"
    assert one_line("\n \nfirst\nsecond") == "first"
    assert len(one_line("x" * 5000)) == 300
    assert one_line("") == ""


def test_a_body_that_is_no_json_is_taken_as_text():
    assert read_body(b"upstream error").message == "upstream error"
    assert read_body(b"").message == ""


def test_a_status_inside_the_body_counts_where_there_is_none_outside():
    assert classify_error({"code": 429, "message": "x"}, "A").kind is K.RATE_LIMIT
    assert classify_error({"code": "401", "message": "x"}, "A").kind is K.AUTH
    assert classify_error({"error": "x", "status_code": 502}, "A").status == 502
    assert classify_error({"code": True}, "A").status is None
    assert classify_error({"code": 3230}, "A").status is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, K.OVERLOADED),
        ({"type": "rate_limit_error", "message": "x"}, K.RATE_LIMIT),
        ({"type": "authentication_error", "message": "x"}, K.AUTH),
        ({"type": "permission_error", "message": "x"}, K.PERMISSION),
        ({"type": "not_found_error", "message": "x"}, K.NOT_FOUND),
        ({"type": "invalid_request_error", "message": "x"}, K.INVALID_REQUEST),
        ({"type": "api_error", "message": "x"}, K.SERVER_ERROR),
        ({"type": "timeout_error", "message": "x"}, K.TIMEOUT),
        ({"code": "server_error", "message": "x"}, K.SERVER_ERROR),
        ({"message": "too many requests"}, K.RATE_LIMIT),
        ("unexpected EOF", K.SERVER_ERROR),
        ({"weird": 1}, K.SERVER_ERROR),
    ],
)
def test_an_error_in_a_stream_is_known_by_its_words(error, kind):
    failure = classify_error(error, "Acme", mid_stream=True)
    assert failure.kind is kind
    assert failure.mid_stream


def test_an_error_that_came_with_a_good_status_has_none():
    assert classify_error("boom", "Acme", status=200).status is None


# ---------------------------------------------------------------- waits


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "99999999999"}, None),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "x", "retry-after": "9"}, 9.0),
        ({"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}, None),
        (
            {
                "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT",
                "date": "Mon, 30 Nov 2026 12:00:00 GMT",
            },
            30.0,
        ),
        (
            {
                "retry-after": "Mon, 30 Nov 2026 12:00:00 GMT",
                "date": "Mon, 30 Nov 2026 12:00:30 GMT",
            },
            0.0,
        ),
    ],
)
def test_headers_say_how_long_to_wait(headers, wait):
    assert classify_response(429, headers, b"", "Acme").retry_after_s == wait


def test_a_date_is_measured_against_now_where_the_server_tells_no_time():
    headers = {"retry-after": "Mon, 30 Nov 2026 12:00:30 GMT"}
    now = 1_796_040_000.0
    assert classify_response(429, headers, b"", "Acme", now=now).retry_after_s == 30.0


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        (google("RESOURCE_EXHAUSTED", "x", {"retryDelay": "34.4s"}), 34.4),
        (google("RESOURCE_EXHAUSTED", "x", {"retryDelay": {"seconds": 2, "nanos": 5e8}}), 2.5),
        (google("RESOURCE_EXHAUSTED", "x", {"retryDelay": "soon"}), None),
        (openai("Please try again in 9m38.016s."), 578.016),
        (openai("Please try again in 20ms"), 0.02),
        (openai("Please retry after 7 seconds."), 7.0),
        (openai("try again in 1h2m3s"), 3723.0),
        (openai("Try again in 2 minutes and 5 seconds"), 125.0),
        (openai("try again later"), None),
        (openai("in 5 s nothing happens"), None),
        (openai("x", metadata={"headers": {"Retry-After": "4"}}), 4.0),
        (openai("x", metadata={"headers": {"X-RateLimit-Reset": str(int(NOW * 1000) + 9000)}}), 9),
        (openai("x", metadata={"headers": {"X-RateLimit-Reset": "soon"}}), None),
    ],
)
def test_bodies_say_how_long_to_wait(error, wait):
    assert of(429, error).retry_after_s == wait


def test_a_wait_is_only_told_where_waiting_helps():
    assert of(402, openai("x"), retry_after="9").retry_after_s is None


def test_the_hint_names_the_wait():
    assert "9 min 39 s" in of(429, openai("try again in 9m38.016s")).hint


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.02, "20 ms"), (0.9996, "1000 ms"), (1, "1 s"), (59.2, "1 min"), (3601, "1 h 1 s")],
)
def test_waits_are_spoken_rounded_up(seconds, words):
    assert spoken(seconds) == words


# ---------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    ("error", "parameter"),
    [
        (
            openai(
                "Unsupported parameter: 'max_tokens' is not supported with this model. "
                "Use 'max_completion_tokens' instead.",
                param="max_tokens",
                code="unsupported_parameter",
            ),
            "max_tokens",
        ),
        (
            openai("'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
            "max_tokens",
        ),
        (openai("Unrecognized request argument supplied: reasoning_effort"), "reasoning_effort"),
        (openai("property 'reasoning_effort' is unsupported"), "reasoning_effort"),
        (openai("Model grok-4 does not support parameter reasoningEffort."), "reasoning_effort"),
        (openai("`temperature` is deprecated for this model."), "temperature"),
        (openai("thinking: Extra inputs are not permitted"), "thinking"),
        (openai('"gemma3:4b" does not support thinking'), "thinking"),
        (openai("unknown field `stream_options`"), "stream_options"),
        (openai('json: unknown field "prompt_cache_key"'), "prompt_cache_key"),
        (
            openai("Unsupported parameter: 'reasoning.effort'", param="reasoning.effort"),
            "reasoning",
        ),
        (openai("Unknown parameter: 'foo'", param="foo", code="unknown_parameter"), "foo"),
        (
            {
                "detail": [
                    {
                        "type": "extra_forbidden",
                        "loc": ["body", "stream_options"],
                        "msg": "Extra inputs are not permitted",
                    }
                ]
            },
            "stream_options",
        ),
        # complaints about values
        (openai("max_tokens is too large: 100000", param="max_tokens"), None),
        (openai("Invalid value for 'reasoning_effort': must be one of low, high"), None),
        (
            openai(
                "Unsupported value: 'temperature' does not support 0.2 with this model. "
                "Only the default (1) value is supported.",
                param="temperature",
                code="unsupported_value",
            ),
            None,
        ),
        (openai("max_tokens must be at most 8192"), None),
        # complaints about something else
        (openai("Thinking mode does not support this tool_choice"), None),
        (openai("unsupported content[].type"), None),
        (openai("Could not process image"), "files"),
    ],
)
def test_a_400_names_the_parameter_it_does_not_know(error, parameter):
    failure = of(400, error)
    assert failure.kind is K.INVALID_REQUEST
    assert failure.parameter == parameter


def test_only_an_invalid_request_names_a_parameter():
    assert of(500, openai("unknown field `stream_options`")).parameter is None


# ---------------------------------------------------------------- anything at all

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "details", "metadata", "detail"])
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, st.none() | st.integers(200, 599))
def test_any_error_is_classified(error, status):
    failure = classify_error(error, "Acme", status=status)
    assert failure.message
    assert failure.hint
    assert len(failure.said) <= 300
    assert "\n" not in failure.said


@given(st.binary(max_size=60), st.integers(300, 599))
def test_any_body_is_classified(body, status):
    assert classify_response(status, {}, body, "").message


@given(st.text(max_size=60))
def test_any_message_is_searched_for_a_wait(text):
    wait = worded_wait(text)
    assert wait is None or wait >= 0


@given(json_values)
def test_any_value_is_read_as_an_error(error):
    read_error(error)


@pytest.mark.parametrize(
    ("error", "wait"),
    [
        ({"error": "Model x is currently loading", "estimated_time": 20.0}, 20.0),
        ({"error": {"message": "x", "retry_after": 8}}, 8.0),
        ({"message": "x", "retryAfter": -8}, None),
        (openai(details=[{"retryDelay": {"seconds": "12", "nanos": 500000000}}]), 12.5),
    ],
)
def test_a_wait_may_be_a_member_of_the_body(error, wait):
    assert of(503, error).retry_after_s == wait


def test_a_wait_may_name_its_unit():
    assert of(429, "", retry_after="12s").retry_after_s == 12


@pytest.mark.parametrize("status", [{"StatusCode": 401}, {"status": "401 Unauthorized"}, {}])
def test_a_status_in_the_body_of_an_error_inside_a_stream_counts(status):
    assert classify_error({"error": "unauthorized", **status}, "Acme").kind is K.AUTH
