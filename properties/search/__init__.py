"""Going through what may happen: breadth first and for lassos; and when a reduction is sound."""
