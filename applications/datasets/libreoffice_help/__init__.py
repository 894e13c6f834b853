"""LibreOffice's help pages as a parallel corpus, English-German embedded."""
