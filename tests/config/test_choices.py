"""The models that were chosen last."""

from hame.config.choices import read_choices, remember_choice


def test_each_backend_has_its_own_choice_and_the_last_one_is_known(tmp_path):
    path = str(tmp_path / "state" / "choices.json")
    assert read_choices(path).name is None
    remember_choice(path, "openrouter/anthropic/claude-opus-5.5")
    remember_choice(path, "openai/gpt-5")
    choices = read_choices(path)
    assert choices.name == "openai/gpt-5"
    assert choices.models == {"openrouter": "anthropic/claude-opus-5.5", "openai": "gpt-5"}


def test_what_cannot_be_read_or_written_is_forgotten(tmp_path):
    path = tmp_path / "choices.json"
    path.write_text("not json")
    assert read_choices(str(path)).name is None
    path.write_text('{"version": 99, "backend": "a", "models": {"a": "b"}}')
    assert read_choices(str(path)).name is None
    (tmp_path / "file").write_text("")
    remember_choice(str(tmp_path / "file" / "choices.json"), "a/b")
