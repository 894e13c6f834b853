"""What comes next, from what somebody took before."""
