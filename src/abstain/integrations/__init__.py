"""Other tools: log results to MLflow, Weights & Biases or TensorBoard; metrics for Inspect and lm-evaluation-harness.

Each module needs its tool, and nothing else needs the module.
"""
