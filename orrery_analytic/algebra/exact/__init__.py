"""What algebra counts with: fractions, lines piece by piece, sums of products, and the branches of maxima."""
