RATIO = "ratio"
