"""Following what a real scheduler did: its log, event by event, against everything that the model may do."""
