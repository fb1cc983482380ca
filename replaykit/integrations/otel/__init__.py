"""OpenTelemetry: results of grading as evaluation events, runs as spans. Needs the extra `otel`."""

from __future__ import annotations

from replaykit import MissingExtra

try:
    from replaykit.integrations.otel.telemetry import Telemetry
except ImportError as error:
    if not (error.name or "").startswith("opentelemetry"):
        raise
    raise MissingExtra(package="opentelemetry-sdk>=1.39", extra="otel", purpose="telemetry") from error

__all__ = ["Telemetry"]
