"""Programming languages by the suffix of a file."""

import posixpath

_SUFFIXES = {
    "Python": "py pyi", "JavaScript": "js mjs cjs jsx", "TypeScript": "ts mts cts tsx",
    "Rust": "rs", "Go": "go", "Java": "java", "Kotlin": "kt kts", "C": "c h",
    "C++": "cc cpp cxx hh hpp hxx", "C#": "cs", "F#": "fs", "Ruby": "rb", "PHP": "php",
    "Swift": "swift", "Objective-C": "m mm", "Scala": "scala", "Elixir": "ex exs", "Erlang": "erl",
    "Haskell": "hs", "OCaml": "ml mli", "Clojure": "clj cljs", "Dart": "dart", "Lua": "lua",
    "Perl": "pl pm", "R": "r", "Julia": "jl", "Zig": "zig", "Nim": "nim", "Shell": "sh bash zsh",
    "SQL": "sql", "HTML": "html htm", "CSS": "css scss less", "Vue": "vue", "Svelte": "svelte",
    "Markdown": "md", "Terraform": "tf", "Protobuf": "proto", "Jupyter": "ipynb",
    "JSON": "json", "YAML": "yaml yml", "TOML": "toml",
}  # fmt: skip
_BY_SUFFIX = {
    f".{suffix}": name for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}


def language_of(path: str) -> str | None:
    """The language of a file; None when its name does not tell."""
    return _BY_SUFFIX.get(posixpath.splitext(path)[1].lower())
