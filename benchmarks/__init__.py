"""Side by side with peers: time, memory and first call of attention on this machine."""
