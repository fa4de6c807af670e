"""The colours that hame's own words may have, as ANSI codes (ECMA-48 SGR parameters)."""

import re

ACCENTS: dict[str, str] = {
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
    "white": "37",
    "gray": "90",
    "orange": "38;5;208",
    "purple": "38;5;141",
    "pink": "38;5;212",
    "teal": "38;5;37",
}

ALIASES: dict[str, str] = {
    "vermelho": "red",
    "verde": "green",
    "amarelo": "yellow",
    "azul": "blue",
    "ciano": "cyan",
    "branco": "white",
    "cinza": "gray",
    "grey": "gray",
    "laranja": "orange",
    "roxo": "purple",
    "rosa": "pink",
}


def accent_code(name: str) -> str | None:
    """SGR parameters of a colour by its name, in English or Portuguese, or as #rrggbb."""
    folded = name.strip().casefold()
    if match := re.fullmatch(r"#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})", folded):
        red, green, blue = (int(part, 16) for part in match.groups())
        return f"38;2;{red};{green};{blue}"
    return ACCENTS.get(ALIASES.get(folded, folded))
