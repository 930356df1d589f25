"""The TenonOS orchestrator: plan, choose, solve, generate, build, run, measure."""

__version__ = "0.1.0"
