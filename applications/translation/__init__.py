"""Machine translation: sentence in, sentence out, and what each word looked at."""
