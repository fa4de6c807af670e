from hame.base.outcome import DiffView
from hame.cli.diff import draw_diff
from hame.cli.paint import Paint

DIFF = "--- a/x\n+++ b/x\n@@ -9,3 +9,4 @@ def f\n a\n-b\n+B\n+c\n d\n@@ -120 +121 @@\n-old\n+new\n\\ No newline at end of file\n"


def lines_of(diff, cells=60, enabled=False):
    return draw_diff(DiffView("x", diff), Paint(enabled=enabled), cells, str)


def test_lines_carry_their_numbers_and_signs():
    assert lines_of(DIFF) == [
        "  9   a",
        " 10 - b",
        " 10 + B",
        " 11 + c",
        " 12   d",
        "    ⋮",
        "120 - old",
        "121 + new",
        "    \\ No newline at end of file",
    ]


def test_a_long_line_goes_on_below_itself():
    assert lines_of("@@ -0,0 +1 @@\n+" + "x" * 30, 20) == [
        "  1 + " + "x" * 14,
        "    + " + "x" * 14,
        "    + xx",
    ]


def test_what_was_added_is_green_and_what_was_removed_red():
    drawn = "\n".join(lines_of(DIFF, enabled=True))
    assert "\x1b[31m- b\x1b[0m" in drawn
    assert "\x1b[32m+ B\x1b[0m" in drawn


def test_an_empty_context_line_may_have_lost_its_blank():
    assert lines_of("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n") == [
        "  1   a",
        "  2",
        "  3 - b",
        "  3 + c",
    ]


def test_a_text_that_is_no_diff_draws_nothing():
    assert lines_of("no hunks here") == []
