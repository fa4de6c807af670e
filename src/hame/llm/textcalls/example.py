"""Whether words show a call rather than make one: `For example, a call looks like this:`."""

import re

_BEFORE = 240
"""Letters before a call that are looked at."""
_INTRODUCED = re.compile(
    r"(?<![\w./-])(?:for example|for instance|e\.\s?g\.|as an example|examples?\s*[:(]|(?:an?|the|this|one) "
    r"(?:\w+ )?example (?!file|folder|project|app|code|test|script|module|repo)|zum beispiel|beispielsweise"
    r"|z\.\s?b\.|par exemple|por ejemplo|ad esempio|na przykład|например)(?![\w./-])|例如|比如|例えば|예를 들어"
    r"|\b(?:would|could|might|may|can|should) (?:then )?(?:look|be (?:called|written|sent|used|made))\b"
    r"|\blooks? (?:like|as)\b|\bsuch as\b|\bsomething like\b|\bin this (?:form|format|shape)\b"
    r"|\byou (?:can|could|would|might) (?:call|use|send|write|run)\b"
    r"|\b(?:syntax|format|template|documentation|schema)(?:\s+of(?:\s+\w+){1,3})?\s*(?:is\b|:|\Z)"
    r"|\b(?:hypothetical|pretend|imagine|suppose|illustrat\w+|sample call)\b"
    r"|(?:^|[.!:;,\n]\s*|\b(?:you|please|must|should)\s+)(?:never|do not|don['\u2019]t|not)\s+(?:ever\s+)?"
    r"(?:run|call|use|execute|do|invoke|send|write|print)\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(?:calls?|format|syntax|form|request|tags?|markup|it|that)\b[^.!?\n]{0,60}"
    r"\b(?:looks? (?:like|as)|(?:would|could|might) (?:look|be)|is (?:written|sent|formatted|printed))\b"
    r"[^.!?\n]{0,40}:?\s*\Z"
    r"|(?<![\w./-])(?:for example|for instance|e\.\s?g\.|as an example|examples?)\s*:\s*\Z"
    r"|\b(?:format|syntax|template|form)(?: \w+){0,3} is\b[^.!?\n]{0,30}:?\s*\Z"
    r"|(?:^|\n)\s*(?:format|syntax|template|form|usage)\s*:\s*\Z",
    re.IGNORECASE,
)
_EXPLAINED = re.compile(
    r"\A\s*(?:[a-z\u2192=]|\||[-\u2013\u2014]\s)|\b(?:would|example|e\.g\.|format|syntax|this is (?:how|what)|that is (?:how|what)"
    r"|as you can see|shows?)\b",
)
_AFTER = 200


def is_example(before: str) -> bool:
    """Whether the words before something without marks say that it is only shown."""
    return _INTRODUCED.search(_near(before)) is not None


def is_shown(before: str) -> bool:
    """The same of something with marks: only words that speak of its form say so."""
    return _SHOWN.search(_near(before)) is not None


def is_explained(after: str) -> bool:
    """Whether the words behind something go on speaking of it, or there are none."""
    return not after.strip() or _EXPLAINED.search(after[:_AFTER]) is not None


def _near(before: str) -> str:
    """The last words, from where a sentence begins."""
    words = before.rstrip("\n\t >`*_#-")[-_BEFORE:]
    sentences = re.split(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n", words)
    return sentences[-1]
