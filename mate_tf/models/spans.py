NO_SPANS = "none"
