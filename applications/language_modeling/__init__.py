"""Language modelling: text continued, gaps filled, and what each word looked at."""
