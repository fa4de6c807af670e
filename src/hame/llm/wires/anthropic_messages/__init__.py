"""Anthropic's Messages API, and everything that speaks it: https://docs.anthropic.com/en/api/messages."""
