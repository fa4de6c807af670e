"""The project on this machine: its files, searches in them, an index, and programs that run there.

`hame.workspace.local.open_workspace` opens a project; `hame.workspace.index.LocalIndex` and
`hame.workspace.process.LocalProcesses` stand beside it.
"""
