"""Each integration against its tool, in an environment of its own: `make test-mlflow` and its siblings."""
