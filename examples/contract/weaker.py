"""The contract with one clause less: a decision no longer asks whether the gang reaches its minimum.

gangproof prove --contract examples/contract/weaker.py INV-01
"""

from gangproof.spec import CONTRACT

contract = CONTRACT.with_action(CONTRACT.action("decide").without("the gang reaches its minimum"))
