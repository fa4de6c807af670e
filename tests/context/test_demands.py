"""What the user demands is found in what the user says, and nothing else is."""

import msgspec
import pytest

from context.labelled import LANGUAGES, messages, score
from hame.base.memory import ConstraintKind
from hame.context import Window
from hame.context.demands import MOST_AT_ONCE, find_demands, scope_of, sentences
from hame.context.phrases import LANGUAGES as PHRASES
from hame.context.phrases import phrases


@pytest.mark.parametrize("part", ["seen", "held out"])
def test_demands_are_found_in_four_languages(part: str) -> None:
    found = score([each for language in LANGUAGES for each in messages(language, part)])
    assert found.precision >= 0.9, found.wrong
    assert found.recall >= 0.8, found.missed


def test_the_labelled_set_is_large_and_has_both_sorts() -> None:
    labelled = [
        each for language in LANGUAGES for part in ("seen", "held out")
        for each in messages(language, part)
    ]  # fmt: skip
    assert len(labelled) >= 400
    assert 0.4 < sum(bool(each.demand) for each in labelled) / len(labelled) < 0.6


def test_no_demand_is_passed_over_because_the_words_to_look_at_are_too_few() -> None:
    labelled = [
        each for language in LANGUAGES for part in ("seen", "held out")
        for each in messages(language, part)
    ]  # fmt: skip
    for language in PHRASES:
        quick = phrases(language)
        whole = msgspec.structs.replace(quick, words=("",))
        for each in labelled:
            for sentence in sentences(each.text.lower()):
                assert quick.kind_of(sentence) == whole.kind_of(sentence), (language, sentence)


def test_a_demand_after_a_refusal_is_a_correction_and_the_refusal_alone_is_none() -> None:
    assert list(find_demands("No, use tabs instead of spaces.")) == [
        ("No, use tabs instead of spaces.", ConstraintKind.CORRECTION)
    ]
    assert list(find_demands("Nein, das wollte ich nicht.")) == []


def test_what_is_cited_is_no_demand() -> None:
    assert list(find_demands('I get "you must never call this" when I send it.')) == []


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        ("Never touch vendor/.", ConstraintKind.NEVER),
        ("Always run make lint.", ConstraintKind.ALWAYS),
        ("Use tabs, not spaces.", ConstraintKind.USE),
        ("Only edit src/a.py.", ConstraintKind.LIMIT),
        ("I told you to leave it alone.", ConstraintKind.CORRECTION),
    ],
)
def test_a_demand_has_a_kind(sentence: str, kind: ConstraintKind) -> None:
    assert [found for _, found in find_demands(sentence)] == [kind]


def test_the_demand_is_the_user_s_own_sentence_and_no_more() -> None:
    words = "Fix the parser in a.py. Don\u2019t touch `b.py`, it is generated. Thanks!"
    assert list(find_demands(words)) == [
        ("Don\u2019t touch `b.py`, it is generated.", ConstraintKind.NEVER)
    ]


@pytest.mark.parametrize(
    "words",
    [
        "```\n# never call this\nalways()\n```",
        "    never call this\n",
        "> Never push to main.\n",
        "Never push to main? Why does it say so?",
        "a" * 400 + " never touch this.",
        "",
    ],
    ids=["fenced", "indented", "quoted", "a question", "a wall of text", "nothing"],
)
def test_code_quotations_questions_and_walls_of_text_hold_no_demand(words: str) -> None:
    assert list(find_demands(words)) == []


def test_items_of_a_list_are_sentences_of_their_own() -> None:
    words = "Please:\n- never touch a.py\n* use tabs, not spaces\n2. fix the bug"
    assert [text for text, _ in find_demands(words)] == [
        "never touch a.py",
        "use tabs, not spaces",
    ]
    assert sentences(words)[-1] == "fix the bug"


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("Never touch src/app.py or vendor/.", "src/app.py, vendor/"),
        ("Leave `make_label` and config.toml alone", "make_label, config.toml"),
        ("Always answer in German, e.g. now.", ""),
    ],
)
def test_a_demand_is_about_what_it_names(text: str, scope: str) -> None:
    assert scope_of(text) == scope


@pytest.mark.parametrize(
    "part", ["no ", "a-", "as ", "kein a", "pas de a", "x, ", "never ", "all a"]
)
def test_no_sentence_keeps_a_pattern_busy(part: str) -> None:
    """A pattern that goes back and forth would be at it for hours."""
    for ending in ("", "!", " s", " nicht.", " x?y"):
        for begins in ("", "no ", "keine ", "sin ", "pas de "):
            list(find_demands(f"{begins}{part * 290}"[: 290 - len(ending)] + ending))


def test_a_message_full_of_demands_puts_a_few_of_them_into_the_ledger() -> None:
    words = "\n".join(f"Never touch file{number}.txt." for number in range(20_000))
    found = Window().demands_in(words, "1", 0.0)
    assert [each.text for each in found[:2]] == ["Never touch file0.txt.", "Never touch file1.txt."]
    assert len(found) == MOST_AT_ONCE
