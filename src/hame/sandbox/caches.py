"""Build caches of a project: where its tools keep what they have fetched and built.

Each tool is sent to a folder of its own in the project's cache folder, which begins empty. The caches in
the user's home stay out of a confined program's reach for writing: what it leaves there, other projects
would build with. Where a tool can read a second cache it is shown the user's own.
"""

from collections.abc import Mapping
from pathlib import Path

from hame.sandbox.private import make_private_folder

_FOLDERS: dict[str, str] = {
    "XDG_CACHE_HOME": "xdg",
    # Rust: https://doc.rust-lang.org/cargo/reference/environment-variables.html
    "CARGO_HOME": "cargo",
    # Go: https://go.dev/ref/mod#environment-variables
    "GOPATH": "go",
    "GOMODCACHE": "go/pkg/mod",
    "GOCACHE": "go-build",
    # JavaScript
    "npm_config_cache": "npm",
    # https://pnpm.io/settings#storedir; npm complains of npm_config_store_dir, which is not one of its own.
    "PNPM_HOME": "pnpm",
    "YARN_CACHE_FOLDER": "yarn",
    "YARN_GLOBAL_FOLDER": "yarn-berry",
    "BUN_INSTALL_CACHE_DIR": "bun",
    "DENO_DIR": "deno",
    # Python
    "UV_CACHE_DIR": "uv",
    "PIP_CACHE_DIR": "pip",
    "POETRY_CACHE_DIR": "poetry",
    "RUFF_CACHE_DIR": "ruff",
    "MYPY_CACHE_DIR": "mypy",
    # Java: https://docs.gradle.org/current/userguide/directory_layout.html
    "GRADLE_USER_HOME": "gradle",
    # Others
    "NUGET_PACKAGES": "nuget",
    "DOTNET_CLI_HOME": "dotnet",
    "COMPOSER_CACHE_DIR": "composer",
    "BUNDLE_USER_CACHE": "bundle",
    "CCACHE_DIR": "ccache",
    "ZIG_GLOBAL_CACHE_DIR": "zig",
}
"""Variables that say where a tool's cache is, and its folder here."""

_MAVEN = "maven"
_FIXED: dict[str, str] = {"UV_LINK_MODE": "copy"}
"""A hard link would lead from the project into the cache, and cannot be made between mounts."""


def cache_environment(caches: str, given: Mapping[str, str], home: str) -> dict[str, str]:
    """What sends tools to their folders below `caches`; looks at which caches the user has."""
    found = {variable: f"{caches}/{folder}" for variable, folder in _FOLDERS.items()} | _FIXED
    return found | _java(caches, given, home) | _readable(given, home)


def make_cache_folder(caches: str) -> None:
    """Make the project's cache folder; only the user may enter it.

    Raises:
        OSError: if it cannot be made.
    """
    make_private_folder(caches)


def _java(caches: str, given: Mapping[str, str], home: str) -> dict[str, str]:
    """Maven's repository has no variable of its own; it can read a second one (since 3.9)."""
    options = [given.get("MAVEN_OPTS", ""), f"-Dmaven.repo.local={caches}/{_MAVEN}"]
    if Path(own := f"{home}/.m2/repository").is_dir():
        options.append(f"-Dmaven.repo.local.tail={own}")
    found = {"MAVEN_OPTS": " ".join(filter(None, options))}
    gradle = given.get("GRADLE_USER_HOME") or f"{home}/.gradle"
    if "GRADLE_RO_DEP_CACHE" not in given and Path(f"{gradle}/caches/modules-2").is_dir():
        found["GRADLE_RO_DEP_CACHE"] = f"{gradle}/caches"
    return found


def _readable(given: Mapping[str, str], home: str) -> dict[str, str]:
    """What the user has installed or fetched already, and tools may read there."""
    found: dict[str, str] = {}
    for variable, folder in (
        ("RUSTUP_HOME", ".rustup"),
        ("PLAYWRIGHT_BROWSERS_PATH", ".cache/ms-playwright"),
    ):
        if variable not in given and Path(own := f"{home}/{folder}").is_dir():
            found[variable] = own
    modules = given.get("GOMODCACHE") or f"{given.get('GOPATH') or f'{home}/go'}/pkg/mod"
    if Path(fetched := f"{modules}/cache/download").is_dir():
        # What was fetched before is read as a proxy is: https://go.dev/ref/mod#module-cache
        further = given.get("GOPROXY") or "https://proxy.golang.org,direct"
        found["GOPROXY"] = f"file://{fetched},{further}"
    return found
