"""Training strategies and the ladder from SURE to SURE+, on test and foreign data together."""
