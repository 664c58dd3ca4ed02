"""What a step of the machinery is in the words of the contract: the abstraction map, and refinement."""
