"""What the studies of trainings share: jobs in order, run one after another, resumable, with time and memory."""
