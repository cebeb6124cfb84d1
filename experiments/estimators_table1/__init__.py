"""Does training on a metric lower it? Fine-tuning on each objective, every seed with its own pre-training."""
