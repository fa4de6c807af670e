"""What a user can set for a service, as lists show it."""

from collections.abc import Sequence

from hame.backends.credential import Credential, Source
from hame.base.capability import BackendSetting
from hame.base.model import Endpoint, Vendor
from hame.base.secret import mask
from hame.base.settings import ProviderSettings

_OLLAMA = ("num_gpu", "keep_alive")
_ALL = ("base_url", "model", "context_window", "allow_http")


def shown_settings(
    vendor: Vendor, own: ProviderSettings, credential: Credential, endpoint: Endpoint
) -> Sequence[BackendSetting]:
    """Its settings as they are now; the key never whole."""
    names = (*_ALL, *(_OLLAMA if vendor.wire == "ollama" else ()))
    values = {name: getattr(own, name) for name in names} | {"base_url": endpoint.base_url}
    shown = [
        BackendSetting(name=f"providers.{vendor.id}.{name}", value=_written(value))
        for name, value in values.items()
    ]
    about = "Its key." if vendor.needs_key else "Its key, where it wants one."
    name = _key_name(vendor, credential)
    return [BackendSetting(name=name, value=_key(credential), about=about), *shown]


def _written(value: object) -> str:
    if value is None or value is False:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _key_name(vendor: Vendor, credential: Credential) -> str:
    """Where the key comes from."""
    match credential.source:
        case Source.ENVIRONMENT:
            return credential.variable
        case Source.SETTINGS:
            return f"providers.{vendor.id}.api_key"
        case Source.COMMAND:
            return f"providers.{vendor.id}.api_key_cmd"
        case Source.SAVED | Source.NONE:
            return f"hame auth add {vendor.id}"


def _key(credential: Credential) -> str:
    if credential.known:
        return mask(credential.known)
    return "a key is set" if credential.exists else ""
