"""What counts as a secret, what does not, and what is never touched."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hame.base.message import Document, Image, Note, Text, User
from hame.base.outcome import (
    Cancelled,
    CommandView,
    Corrected,
    Denied,
    DiffView,
    Done,
    Failed,
    Outcome,
    PathsView,
    TextView,
    TodoItem,
    TodoState,
    TodoView,
    View,
)
from hame.sessions.redaction import PLACEHOLDER, Redactor

HEX = "0123456789abcdef" * 4
MIXED = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5lM7nP9rS1tU3wX5zA7cE9"

KEY_BLOCK = (
    "-----BEGIN OPENSSH PRIVATE KEY-----\n"
    + "\n".join("b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ" for _ in range(5))
    + "\n-----END OPENSSH PRIVATE KEY-----"
)

TOKENS = {
    "OpenAI": f"sk-proj-{MIXED}_x-Y2",
    "Anthropic": f"sk-ant-api03-{MIXED}-{MIXED}_AA",
    "OpenRouter": f"sk-or-v1-{HEX}",
    "DeepSeek": f"sk-{HEX[:32]}",
    "GitHub": f"ghp_{MIXED[:36]}",
    "GitHub app": f"ghs_{MIXED[:36]}",
    "GitHub fine-grained": f"github_pat_11ABCDEFG0{MIXED[:12]}_{MIXED}",
    "GitLab": "glpat-aB3dE5gH7jK9mN1pQ3sT",
    "AWS key id": "AKIA" + "IOSFODNN7EXAMPLE",
    "AWS session key id": "ASIA" + "IOSFODNN7EXAMPLE",
    "Google": "AIza" + MIXED[:35],
    "Slack": "xoxb-" + "123456789012-abcdefghij",
    "Stripe": "sk_live_" + MIXED[:24],
    "Hugging Face": "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH",
    "Groq": "gsk_" + MIXED[:52],
    "xAI": "xai-" + MIXED[:40],
    "npm": "npm_" + MIXED[:36],
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + MIXED,
    "private key": KEY_BLOCK,
    "escaped private key": json.dumps(KEY_BLOCK)[1:-1],
}

KEPT_IN_FRONT = {
    "bearer": ("Authorization: Bearer ", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_123"),
    "lower-case bearer": ("authorization: bearer ", "a1b2c3d4e5f6g7h8i9j0"),
    "basic": ("Authorization: Basic ", "dXNlcjpwYXNzd29yZA=="),
    "basic in JSON": ('"authorization": "basic ', "dXNlcjpwYXNzd29yZA=="),
    "AWS secret": ("aws_secret_access_key = ", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
    "AWS secret in JSON": ('"SecretAccessKey": "', "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
}

ORDINARY = [
    "sk-spinner-double-bounce is a CSS class, sk-cube-grid another",
    ".sk-folding-cube-parent-wrapper { color: red }",
    "risk-averse-investors-and-their-12-friends",
    "task-1234567890abcdef1234567890abcdef",
    "The ghp_ prefix marks GitHub tokens; AKIA marks AWS ones; AIza Google's.",
    "git commit 2f1c3d4e5f60718293a4b5c6d7e8f90112233445",
    "sha256: " + HEX,
    "550e8400-e29b-41d4-a716-446655440000",
    "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
    'headers={"Authorization": f"Bearer {token}"}',
    "the bearer of this message; Bearer authentication-is-described-there",
    "npm_config_registry=http://localhost, hf_transfer, pypi-server",
    "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ" * 20,
    "secret_access_key = os.getenv('KEY')",
    "xoxo-hugs, xai-sdk, gsk_short, sk-1",
]


@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS.keys())
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "KEY={}\n",
        'key: "{}",',
        "({})",
        "a\n{}\nb",
        "https://x/?k={}&b=1",
        "`{}`.",
        "+{}\n",
        "-{}\n",
        "/{}/",
        "TOKEN_{}",
        '"a\\n{}\\n"',
    ],
)
def test_a_token_of_a_known_shape_is_taken_out(token: str, around: str) -> None:
    assert Redactor().text(around.format(token)) == around.format(PLACEHOLDER)


@pytest.mark.parametrize(("front", "secret"), KEPT_IN_FRONT.values(), ids=KEPT_IN_FRONT.keys())
def test_what_names_a_secret_stays_in_front_of_its_place(front: str, secret: str) -> None:
    text = f"> {front}{secret}\n< HTTP/1.1 200"
    assert Redactor().text(text) == f"> {front}{PLACEHOLDER}\n< HTTP/1.1 200"


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert Redactor().text(text) == text


def test_a_private_key_that_is_cut_off_is_taken_out_to_its_end() -> None:
    cut = KEY_BLOCK[:120]
    assert Redactor().text(f"cat key\n{cut}") == f"cat key\n{PLACEHOLDER}"


def test_two_private_keys_are_two_places() -> None:
    text = f"{KEY_BLOCK}\nand\n{KEY_BLOCK}\nend"
    assert Redactor().text(text) == f"{PLACEHOLDER}\nand\n{PLACEHOLDER}\nend"


def test_the_values_it_was_given_are_taken_out_wherever_they_are() -> None:
    redactor = Redactor(["correct horse", " padded-value\n", "short", ""])
    text = "xcorrect horsex padded-value short"
    assert redactor.text(text) == f"x{PLACEHOLDER}x {PLACEHOLDER} short"


def test_of_values_within_each_other_the_longer_goes_first() -> None:
    assert Redactor(["password", "password-and-more"]).text("password-and-more") == PLACEHOLDER


values = st.lists(st.text(min_size=6, max_size=14), max_size=3)
fragments = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from([
            *TOKENS.values(),
            *(f"{front}{secret}" for front, secret in KEPT_IN_FRONT.values()),
            PLACEHOLDER,
            PLACEHOLDER[:5],
            "-----BEGIN RSA PRIVATE KEY-----",
            "Bearer ",
            "sk-",
        ]),
    ),
    max_size=8,
)


@given(values, fragments)
@example(["[redacted", "abcdefgh"], ["[redacted", "abcdefgh", "]"])
@example(["zz[redact", "abcdefgh"], ["zzabcdefgh"])
@example(["12345678"], ["12345678", TOKENS["DeepSeek"]])
@settings(max_examples=300, deadline=None)
def test_redacting_twice_is_redacting_once(known: list[str], parts: list[str]) -> None:
    redactor = Redactor(known)
    text = "".join([*parts, *known])
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(st.lists(st.text("abcXYZ019-_/+", min_size=8, max_size=20), min_size=1), st.text())
def test_no_value_it_was_given_is_left(known: list[str], text: str) -> None:
    redacted = Redactor(known).text(text.join(["", *known, ""]))
    for value in known:
        assert value not in redacted.replace(PLACEHOLDER, "\0")


@pytest.mark.parametrize(
    "text",
    [
        "sk-" * 300_000,
        "sk-" + "a" * 1_000_000,
        "-----BEGIN PRIVATE KEY-----" * 2_000,
        "-----BEGIN PRIVATE KEY-----" + "A" * 1_000_000 + "!",
        "Bearer " * 100_000,
        "authorization" * 50_000 + " basic",
        "secret_access_key" + " " * 500_000,
        "x" * 3_000_000,
    ],
    ids=lambda text: text[:20],
)
def test_hostile_text_is_redacted_in_a_time_that_grows_no_faster_than_it(text: str) -> None:
    """A pattern that backtracks would take hours for these; the suite's own limit would end it."""
    redactor = Redactor(["some-known-value"])
    assert redactor.text(redactor.text(text)) == redactor.text(text)


# ------------------------------------------------------------ messages and outcomes

SECRET = TOKENS["GitHub"]
VIEWS: list[tuple[View, View]] = [
    (TextView(f"a {SECRET}", "t"), TextView(f"a {PLACEHOLDER}", "t")),
    (DiffView("a.py", f"+{SECRET}", 1, 2), DiffView("a.py", f"+{PLACEHOLDER}", 1, 2)),
    (
        TodoView((TodoItem(f"use {SECRET}", TodoState.ACTIVE),)),
        TodoView((TodoItem(f"use {PLACEHOLDER}", TodoState.ACTIVE),)),
    ),
    (PathsView((f"{SECRET}.txt", "b"), "t", 9), PathsView((f"{PLACEHOLDER}.txt", "b"), "t", 9)),
    (
        CommandView(f"echo {SECRET}", SECRET, 1, "", 2.0),
        CommandView(f"echo {PLACEHOLDER}", PLACEHOLDER, 1, "", 2.0),
    ),
]


@pytest.mark.parametrize(("view", "expected"), VIEWS)
def test_both_faces_of_an_outcome_are_redacted(view: View, expected: View) -> None:
    image = Image("image/png", SECRET.encode(), "x")
    done = Done((Text(f"is {SECRET}"), image), view, ("a.py",))
    assert Redactor().outcome(done) == Done((Text(f"is {PLACEHOLDER}"), image), expected, ("a.py",))
    failed = Failed(f"no {SECRET}", view, ("a.py",))
    assert Redactor().outcome(failed) == Failed(f"no {PLACEHOLDER}", expected, ("a.py",))


@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Done((Text("fine"),)), Done((Text("fine"),))),
        (Denied(f"has {SECRET}", by_user=True), Denied(f"has {PLACEHOLDER}", by_user=True)),
        (Corrected(f"use {SECRET}"), Corrected(f"use {PLACEHOLDER}")),
        (Cancelled("late", SECRET), Cancelled("late", PLACEHOLDER)),
    ],
)
def test_every_kind_of_outcome_is_redacted(outcome: Outcome, expected: Outcome) -> None:
    assert Redactor().outcome(outcome) == expected


def test_words_and_notes_are_redacted_pictures_and_documents_are_not() -> None:
    data = SECRET.encode()
    message = User((
        Text(f"my key is {SECRET}", "signature"),
        Note(f"file: {SECRET}", ".env"),
        Image("image/png", data),
        Document("application/pdf", data, "x.pdf"),
    ))
    assert Redactor().message(message) == User((
        Text(f"my key is {PLACEHOLDER}", "signature"),
        Note(f"file: {PLACEHOLDER}", ".env"),
        Image("image/png", data),
        Document("application/pdf", data, "x.pdf"),
    ))


def test_a_message_without_secrets_is_the_same_message() -> None:
    message = User((Text("hello"),))
    assert Redactor(["something-else"]).message(message) is message
