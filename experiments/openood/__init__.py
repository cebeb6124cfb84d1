"""Training strategies and the ladder from SURE to SURE+, on test and OOD data together."""
