"""Does training on a metric lower it? Fine-tuning a cross-entropy model with each objective, over seeds.

python -m experiments.fine_tuning --data fashion_mnist.npz --output FOLDER
python -m experiments.fine_tuning --preset table1 --data FOLDER --output FOLDER --device cuda
"""
