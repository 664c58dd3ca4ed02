"""Random worlds by number: the same ones for the same seed, each once."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, seed, settings

from gangproof.impl.world import World
from gangproof.properties.worlds.strategies import worlds


def drawn(number: int, of: int, **bounds: int) -> list[World]:
    """The distinct ones among `of` worlds that the strategy draws for the seed `number`."""
    found: dict[World, None] = {}

    @seed(number)
    @settings(
        max_examples=of,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(worlds(**bounds))
    def draw(world: World) -> None:
        found.setdefault(world)

    draw()
    return list(found)
