"""How a closed form comes about, told for a paper and for a notebook: steps, LaTeX, sources."""
