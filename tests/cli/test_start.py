"""The command line as a process with pipes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from hame.cli.root import COMMANDS, root

SCRIPT = Path(__file__).with_name("scripted.py")


def results_of(text):
    return [json.loads(line) for line in text.splitlines()]


def test_only_the_answer_goes_to_standard_output(hame):
    ran = hame("-p", "tour")
    assert ran.stdout.startswith("# What I found\n")
    assert "\x1b" not in ran.stdout
    assert ran.stdout.endswith("Done.\n")
    assert (ran.stderr, ran.returncode) == ("", 0)


def test_words_are_joined_and_options_may_stand_after_them(hame):
    assert hame("echo", "this", "--max-steps", "3", "now").stdout == "You said: echo this now\n"


def test_a_prompt_may_be_an_options_value_or_the_name_of_a_command(hame):
    assert hame("--prompt", "echo it").stdout == "You said: echo it\n"
    assert hame("-p", "config").stdout == "You said: config\n"


def test_standard_input_is_added_to_the_prompt(hame):
    assert (
        hame("-p", "echo", stdin="a\nb\n").stdout == "You said: echo\n\n<stdin>\na\nb\n</stdin>\n"
    )


@pytest.mark.parametrize("words", [("-p",), ("-p", "-"), ()])
def test_standard_input_is_the_prompt_where_there_is_no_other(hame, words):
    assert hame(*words, stdin="echo me\n").stdout == "You said: echo me\n"


def test_without_any_prompt_the_usage_is_wrong(hame):
    ran = hame("-p")
    assert ran.returncode == 2
    assert "there is no prompt" in ran.stderr


def test_standard_input_that_is_not_text_is_refused(tmp_path):
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), "0", "-p", "echo"],
        input=b"\0\1",
        capture_output=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2] / "src")},
        check=False,
    )
    assert ran.returncode == 2
    assert b"is not text" in ran.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            ("wrongkey",),
            1,
            "hame: Mock refused the key (invalid x-api-key)\n      Set MOCK_API_KEY",
        ),
        (("nomodel",), 2, "hame: no model is configured\n      Set a key"),
        (("question",), 3, "rm -rf ~\\u{202e}\\u{200b}: refused: it deletes files"),
        (("x", "--mode", "yolo"), 2, "'yolo' is not one of 'ask', 'auto', 'plan'"),
        (("x", "--max-steps", "many"), 2, "--max-steps should be a whole number"),
        (("x", "-C", "/nowhere"), 2, "cannot work in /nowhere"),
        (("x", "--continue"), 2, "there is no session of"),
        (("x", "--modell", "y"), 2, "no such option"),
        (("x", "--accent", "plaid"), 2, "--accent should be one of red"),
    ],
)
def test_what_goes_wrong_has_an_exit_code_and_a_remedy(hame, words, code, said):
    ran = hame("-p", *words)
    assert ran.returncode == code
    assert said in ran.stderr
    for wanted in ("json", "stream-json"):
        last = results_of(hame("-p", *words, "--output-format", wanted).stdout)[-1]
        assert last["type"] == "result"
        assert last["exit_code"] == code


def test_a_configuration_that_fails_has_a_result_without_a_session(hame):
    (result,) = results_of(hame("-p", "x", "--output-format=stream-json", "--mode", "yolo").stdout)
    assert result["session_id"] is None
    assert result["seq"] == 1
    assert result["error"]["kind"] == "configuration"
    assert result["error"]["hint"]


def test_json_is_one_object(hame):
    (result,) = results_of(hame("-p", "tour", "--output-format", "json").stdout)
    assert result["type"] == "result"
    assert result["status"] == "done"
    assert result["session_id"] == "s1"
    assert result["text"].startswith("# What I found")
    assert result["usage"] == {
        "input_uncached": 2800,
        "cache_read": 22000,
        "cache_write": 0,
        "cache_write_long": 0,
        "output": 600,
        "reasoning": 0,
        "kept_micro_usd": 0,
        "paid_nano_usd": None,
    }
    assert result["cost_usd"] == 0.0123
    assert "error" not in result


def test_stream_json_numbers_every_line_and_ends_with_the_result(hame):
    lines = results_of(hame("-p", "question", HAME_OUTPUT_FORMAT="stream-json").stdout)
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line["session_id"] for line in lines} == {"s1"}
    assert [line["type"] for line in lines[:2]] == ["run_started", "step_started"]
    assert [line["type"] for line in lines].count("result") == 1
    assert lines[-1]["type"] == "result"
    assert lines[-1]["refused"] == 1


@pytest.mark.parametrize("wanted", ["text", "stream-json"])
def test_a_reader_that_leaves_early_is_no_error_to_talk_about(tmp_path, wanted):
    command = f"{sys.executable} {SCRIPT} 0 -p lines --output-format {wanted} </dev/null"
    ran = subprocess.run(
        ["bash", "-c", f"{command} | head -c 1 >/dev/null; echo ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2] / "src")},
        check=True,
    )
    assert ran.stderr == ""
    assert ran.stdout.strip() in {"0", "141"}
    assert wanted == "text" or ran.stdout.strip() == "141"


def start(tmp_path, *words, until):
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), "0.02", "-p", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2] / "src")},
    )
    wait_until(process, until)
    return process


def wait_until(process, word):
    assert process.stdout is not None
    line = process.stdout.readline()
    while line and word not in line:
        line = process.stdout.readline()
    assert line, f"it ended without {word!r}"


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_signals_stop_the_run_and_the_result_is_still_written(tmp_path, number, code):
    process = start(tmp_path, "slow", "--output-format", "stream-json", until="call_started")
    process.send_signal(number)
    output, errors = process.communicate(timeout=10)
    assert process.returncode == code
    assert errors == ""
    last = results_of(output)[-1]
    assert last["type"] == "result"
    assert last["exit_code"] == code
    assert (last["status"], last["steps"]) == ("stopped", 2), "what was done until then is told"
    assert any(line["type"] == "call_settled" for line in results_of(output))


def test_a_second_interrupt_does_not_wait_for_the_run_to_settle(tmp_path):
    process = start(tmp_path, "deaf", "--output-format", "stream-json", until="step_started")
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    wait_until(process, "notice")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode == 130
    assert time.monotonic() - began < 5


def test_settings_of_the_environment_and_of_a_file_reach_the_run(hame, home):
    config = home / ".config" / "hame"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('mode = "plan"\nbogus = 1\n')
    ran = hame("-p", "echo")
    assert ran.returncode == 2
    assert "config.toml:2: bogus is not a setting" in ran.stderr
    (config / "config.toml").write_text('mode = "plan"\n')
    lines = results_of(hame("-p", "echo", "--output-format", "stream-json").stdout)
    assert lines[0]["mode"] == "plan"
    lines = results_of(
        hame("-p", "echo", "--output-format", "stream-json", HAME_MODE="auto").stdout
    )
    assert lines[0]["mode"] == "auto"


def test_a_projects_ignored_settings_are_said_on_standard_error(hame, tmp_path):
    (tmp_path / ".hame").mkdir()
    (tmp_path / ".hame" / "config.toml").write_text('mode = "auto"\n')
    ran = hame("-p", "echo")
    assert ran.stdout == "You said: echo\n"
    assert "mode is ignored: a project may not loosen the mode" in ran.stderr


def test_the_help_lists_options_and_commands_and_is_the_same_after_words(hame):
    help_text = hame("--help").stdout
    assert "--output-format" in help_text
    assert "completion  " in help_text
    assert hame("fix", "it", "--help").stdout == help_text


def test_no_help_says_what_a_function_raises():
    def helps(command: click.Command) -> list[str]:
        inner = list(command.commands.values()) if isinstance(command, click.Group) else []
        return [command.help or "", *(text for each in inner for text in helps(each))]

    found = [
        text for name in COMMANDS for text in helps(root.get_command(click.Context(root), name))
    ]
    assert len(found) > 30
    assert all(found)
    assert not any("Raises:" in text for text in found)


def test_the_version_is_known_with_other_options_too(hame):
    assert hame("--version").stdout.startswith("hame ")
    assert hame("-V", "--verbose").stdout == hame("--version").stdout


def imported_by(tmp_path, *arguments):
    code = (
        "import sys\n"
        f"sys.argv = ['hame', *{list(arguments)!r}]\n"
        "from hame.__main__ import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "sys.stderr.write(' '.join(sys.modules))"
    )
    # What measures coverage imports much by itself.
    kept = {name: value for name, value in os.environ.items() if "COVERAGE" not in name}
    environment = {**kept, "PYTHONPATH": str(SCRIPT.parents[2] / "src")}
    ran = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=True,
    )
    return set(ran.stderr.split())


def test_version_and_help_import_nothing_heavy(tmp_path):
    assert "click" not in imported_by(tmp_path, "--version")
    heavy = {"asyncio", "anyio", "httpx2", "rich", "msgspec", "tomllib", "tomlkit", "hame.base"}
    assert not heavy & imported_by(tmp_path, "--help")


def test_a_command_imports_neither_the_event_loop_nor_the_network(tmp_path):
    assert not {"asyncio", "httpx2", "rich"} & imported_by(tmp_path, "config", "list")


def test_a_fault_of_hames_own_is_told_and_its_trace_kept(hame, home):
    ran = hame("-p", "crash")
    assert ran.returncode == 1
    assert "hame itself failed: ZeroDivisionError" in ran.stderr
    (trace,) = (home / ".local" / "state" / "hame" / "log").glob("crash-*.txt")
    assert "ZeroDivisionError" in trace.read_text()
    assert trace.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("group", ["local", "debug", "snapshots"])
def test_a_command_that_needs_another_shows_its_help(hame, group):
    ran = hame(group, real=True)
    assert ran.returncode == 2
    assert ran.stdout == ""
    assert ran.stderr == hame(group, "--help", real=True).stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("completion",),
            "{bash|zsh|fish}'. Choose from: bash, zsh, fish\n      See hame completion",
        ),
        (("auth", "add"), "'PROVIDER'.\n      See hame auth add --help."),
        (("echo", "--modell", "y"), "\n      See hame --help."),
    ],
)
def test_wrong_usage_points_to_the_help_of_the_command_that_was_used(hame, words, said):
    ran = hame(*words)
    assert ran.returncode == 2
    assert said in ran.stderr


@pytest.mark.parametrize("words", [("modles",), ("sesions", "list")])
def test_a_mistyped_command_is_no_prompt(hame, words):
    ran = hame(*words)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "is not a command, did you mean" in ran.stderr


@pytest.mark.parametrize(
    "words", [("sesions", "are", "broken"), ("sesions", "fail"), ("echo",), ("-p", "modles")]
)
def test_words_that_only_look_like_a_command_are_a_prompt(hame, words):
    said = " ".join(word for word in words if word != "-p")
    assert hame(*words).stdout == f"You said: {said}\n"


def test_help_may_be_asked_for_in_a_word_and_be_a_word_of_a_prompt(hame):
    assert hame("help").stdout == hame("--help").stdout
    assert hame("help", "models").stdout == hame("models", "--help").stdout
    assert hame("help", "echo").stdout == "You said: help echo\n"


def test_every_command_is_said_whole_where_commands_are_listed(hame):
    for name in COMMANDS:
        assert "...\n" not in hame(name, "--help", real=True).stdout.partition("\nCommands:")[2]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("words", [("-p", "tour"), ("-p", "tour", "--output-format", "json")])
def test_output_that_cannot_be_written_is_no_bug_of_hames(tmp_path, words):
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, str(SCRIPT), "0", *words],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2] / "src")},
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr == (
        "hame: cannot write the output: No space left on device\n"
        "      Make room there, and try again.\n"
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_started_without_streams_it_does_its_work(tmp_path, closed):
    words = f'exec "$0" "$1" 0 -p "echo it" --output-format json {closed}'
    ran = subprocess.run(
        ["sh", "-c", words, sys.executable, str(SCRIPT)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(SCRIPT.parents[2] / "src")},
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ">&-" in closed.replace("2>&-", "") or results_of(ran.stdout)[0]["status"] == "done"
