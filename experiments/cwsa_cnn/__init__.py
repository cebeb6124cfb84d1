"""The two small networks of the CWSA paper: MNIST and CIFAR-10, its metrics over thresholds."""
