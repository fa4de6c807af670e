"""Notebooks as text."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from hame.tools.notebook import render_notebook


def notebook(*cells: object) -> str:
    return json.dumps({"cells": list(cells), "nbformat": 4, "metadata": {}})


def code(source: object, *outputs: object) -> object:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_cells_come_in_order_with_what_they_printed():
    text = notebook(
        {"cell_type": "markdown", "source": ["# Title\n", "words"]},
        code(
            "print(1)",
            {"output_type": "stream", "name": "stdout", "text": ["1\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "2", "image/png": "iVBO"}},
        ),
    )
    assert render_notebook(text) == (
        "# %% cell 1 [markdown]\n# Title\nwords\n\n"
        "# %% cell 2 [code]\nprint(1)\n# output:\n1\n# output:\n2\n[image/png]\n"
    )


def test_errors_lose_their_colours_and_long_outputs_are_cut_with_a_count():
    error = {"output_type": "error", "ename": "E", "traceback": ["\x1b[31mboom\x1b[0m", "at 1"]}
    long = {"output_type": "stream", "text": "x" * 5_000}
    text = render_notebook(notebook(code("f()", error, long)))
    assert text is not None
    assert "# output:\nboom\nat 1\n" in text
    assert "x… [3,000 more characters]" in text


def test_what_is_no_notebook_is_none():
    for text in ("", "[]", "{}", '{"cells": 1}', "not json"):
        assert render_notebook(text) is None


async def test_a_notebook_is_read_as_text_and_says_what_an_edit_works_on(desk):
    desk.write("a.ipynb", notebook(code("x = 1")))
    text = await desk.done("read_file", path="a.ipynb")
    assert text.startswith("1\t# %% cell 1 [code]\n2\tx = 1")
    assert "in the file they are JSON" in text
    desk.write("b.ipynb", "{broken")
    assert await desk.done("read_file", path="b.ipynb") == "1\t{broken"


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["source", "outputs", "cell_type", "data", "text", "output_type"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.lists(JSON, max_size=4))
def test_odd_cells_never_fail(cells):
    assert render_notebook(json.dumps({"cells": cells})) is not None
