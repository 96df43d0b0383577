"""What the process knows of itself: counters, heartbeats, sensors, the service manager, its rights."""
