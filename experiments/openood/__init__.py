"""Training strategies and the steps from SURE to SURE+, on test and OOD data together."""
