"""The scenarios, by subject. Importing this package adds all of them to the catalogue."""
import importlib

for name in ("healthy", "setup", "windows", "losses", "pace", "closing", "tls", "observation", "several"):
    importlib.import_module(f"scenarios.{name}")
