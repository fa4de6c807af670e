"""The tools that hame brings: one module and one description each."""

from hame.base.model import Editing
from hame.base.ports import Tool


def builtin_tools(editing: Editing = "edit_file") -> tuple[Tool, ...]:
    """All of them, in the order in which they are advertised, which never changes.

    They share what the model has seen, so each session takes a set of its own. Those whose spec is
    not advertised are found by find_tool.
    """
    from hame.tools.add_dependency import AddDependency
    from hame.tools.apply_patch import ApplyPatch
    from hame.tools.ask_user import AskUser
    from hame.tools.create_dir import CreateDir
    from hame.tools.create_file import CreateFile
    from hame.tools.delete_path import DeletePath
    from hame.tools.edit_file import EditFile
    from hame.tools.edit_module_config import EditModuleConfig
    from hame.tools.find_files import FindFiles
    from hame.tools.find_symbol import FindSymbol
    from hame.tools.find_tool import FindTool
    from hame.tools.http_request import HttpRequestTool
    from hame.tools.job_output import JobOutputTool
    from hame.tools.list_dir import ListDir
    from hame.tools.move_path import MovePath
    from hame.tools.project_overview import ProjectOverview
    from hame.tools.read_file import ReadFile
    from hame.tools.remember import Remember
    from hame.tools.rename_path import RenamePath
    from hame.tools.run_command import RunCommand
    from hame.tools.run_program import RunProgram
    from hame.tools.search_text import SearchText
    from hame.tools.seen import SeenTexts
    from hame.tools.send_job_input import SendJobInput
    from hame.tools.stop_job import StopJob
    from hame.tools.todo import Todo
    from hame.tools.use_tool import UseTool
    from hame.tools.web_fetch import WebFetch
    from hame.tools.write_file import WriteFile

    seen = SeenTexts()
    return (
        ReadFile(seen),
        ListDir(),
        FindFiles(),
        SearchText(),
        EditFile(seen, advertised=editing == "edit_file"),
        ApplyPatch(seen, advertised=editing == "apply_patch"),
        WriteFile(seen),
        CreateFile(seen),
        CreateDir(),
        RenamePath(),
        MovePath(),
        DeletePath(),
        RunCommand(),
        ProjectOverview(),
        AskUser(),
        Todo(),
        FindTool(),
        UseTool(),
        FindSymbol(),
        AddDependency(seen),
        EditModuleConfig(seen),
        RunProgram(),
        JobOutputTool(),
        SendJobInput(),
        StopJob(),
        Remember(),
        WebFetch(),
        HttpRequestTool(),
    )
