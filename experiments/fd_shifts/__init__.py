"""The thirteen scores of the AUGRC paper under shifts, dropout and reward chosen by each metric on validation."""
