"""What models look at and what they cost, as figures and plots."""
