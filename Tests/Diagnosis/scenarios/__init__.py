"""The scenarios, by subject. Importing this package adds all of them to the catalogue."""
import importlib

for name in ("healthy", "borderline", "setup", "windows", "losses", "pace", "closing", "tls", "observation", "several"):
    importlib.import_module(f"scenarios.{name}")
