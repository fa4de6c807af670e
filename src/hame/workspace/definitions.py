"""Which nodes of a syntax tree define something, by language, as tree-sitter's grammars name them."""

import posixpath

_BY_SUFFIX = {
    "py": "python", "pyi": "python",
    "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
    "ts": "typescript", "mts": "typescript", "cts": "typescript", "tsx": "tsx",
    "rs": "rust", "go": "go", "java": "java", "kt": "kotlin", "kts": "kotlin", "scala": "scala",
    "c": "c", "h": "cpp", "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "hh": "cpp", "hpp": "cpp",
    "cs": "csharp", "rb": "ruby", "php": "php", "swift": "swift", "lua": "lua",
    "sh": "bash", "bash": "bash", "json": "json", "yaml": "yaml", "yml": "yaml",
    "html": "html", "htm": "html", "css": "css",
}  # fmt: skip

_SCRIPT = {
    "class_declaration": "class", "function_declaration": "function",
    "generator_function_declaration": "function", "method_definition": "method",
    "variable_declarator": "function",
}  # fmt: skip
_TYPED_SCRIPT = {
    **_SCRIPT, "abstract_class_declaration": "class", "interface_declaration": "interface",
    "type_alias_declaration": "type", "enum_declaration": "enum", "internal_module": "namespace",
    "abstract_method_signature": "method", "method_signature": "method",
}  # fmt: skip
_C = {
    "struct_specifier": "struct", "union_specifier": "union", "enum_specifier": "enum",
    "function_definition": "function", "preproc_function_def": "macro",
}  # fmt: skip

KINDS: dict[str, dict[str, str]] = {
    "python": {"class_definition": "class", "function_definition": "function"},
    "javascript": _SCRIPT,
    "typescript": _TYPED_SCRIPT,
    "tsx": _TYPED_SCRIPT,
    "rust": {
        "struct_item": "struct", "enum_item": "enum", "union_item": "union", "trait_item": "trait",
        "impl_item": "impl", "function_item": "function", "function_signature_item": "function",
        "mod_item": "module", "macro_definition": "macro", "type_item": "type",
        "const_item": "constant", "static_item": "static",
    },
    "go": {
        "type_spec": "type", "type_alias": "type", "method_declaration": "method",
        "function_declaration": "function",
    },
    "java": {
        "class_declaration": "class", "interface_declaration": "interface",
        "enum_declaration": "enum", "record_declaration": "record",
        "annotation_type_declaration": "annotation", "method_declaration": "method",
        "constructor_declaration": "constructor",
    },
    "kotlin": {
        "class_declaration": "class", "object_declaration": "object",
        "function_declaration": "function",
    },
    "scala": {
        "object_definition": "object", "class_definition": "class", "trait_definition": "trait",
        "function_definition": "function",
    },
    "c": _C,
    "cpp": {**_C, "class_specifier": "class", "namespace_definition": "namespace"},
    "csharp": {
        "namespace_declaration": "namespace", "class_declaration": "class",
        "interface_declaration": "interface", "struct_declaration": "struct",
        "enum_declaration": "enum", "record_declaration": "record", "method_declaration": "method",
        "constructor_declaration": "constructor", "property_declaration": "property",
    },
    "ruby": {"module": "module", "class": "class", "method": "method", "singleton_method": "method"},
    "php": {
        "class_declaration": "class", "interface_declaration": "interface",
        "trait_declaration": "trait", "enum_declaration": "enum", "method_declaration": "method",
        "function_definition": "function",
    },
    "swift": {
        "class_declaration": "class", "protocol_declaration": "protocol",
        "function_declaration": "function",
    },
    "lua": {"function_declaration": "function"},
    "bash": {"function_definition": "function"},
}  # fmt: skip

NAME_KINDS = frozenset({
    "identifier", "type_identifier", "simple_identifier", "field_identifier", "destructor_name",
    "qualified_identifier", "operator_name",
})  # fmt: skip
"""Nodes that hold a name where the grammar gives the definition no field for it."""

FUNCTION_VALUES = frozenset({"arrow_function", "function_expression", "generator_function"})
"""What makes a variable of a script the name of a function."""

BODIES = frozenset({"struct_specifier", "union_specifier", "enum_specifier", "class_specifier"})
"""Nodes of C and its kin that define something only when they have a body."""


def language_of(path: str) -> str | None:
    """The grammar for a file, by its name."""
    name = posixpath.basename(path)
    return _BY_SUFFIX.get(name.rpartition(".")[2].lower()) if "." in name else None
