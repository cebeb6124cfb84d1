"""What a service loads."""
