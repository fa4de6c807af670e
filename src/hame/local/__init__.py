"""The built-in model: a small instruct model in a child process, steered by a grounded mask."""
