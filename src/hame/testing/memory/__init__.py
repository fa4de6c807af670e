"""What a workspace in memory is made of: a tree, paths into it, text codings, searching."""
