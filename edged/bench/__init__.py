"""What `edged bench` measures and how: every figure of this machine in one table and one JSON file."""
