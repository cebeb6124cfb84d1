"""Studies of real outputs: eleven ImageNet models, CIFAR models under shift, language models that may abstain."""
