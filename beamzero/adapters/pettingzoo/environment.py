"""A game as an environment of PettingZoo in which agents move one after the other (AEC)."""

from __future__ import annotations

import functools
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from beamzero.core.errors import BadInput
from beamzero.games import OPEN, Game, State, make_game
from beamzero.games.chance import resolve_chance

try:
    from gymnasium.spaces import Box, Dict, Discrete
    from pettingzoo import AECEnv
    from pettingzoo.utils.wrappers import AssertOutOfBoundsWrapper, OrderEnforcingWrapper, TerminateIllegalWrapper
except ImportError as error:
    raise ImportError("this adapter needs PettingZoo, which is missing: pip install 'beamzero[pettingzoo]'") from error

Observation = dict[str, np.ndarray]
"""`observation`, float32 [*observation_shape], and `action_mask`, int8 [A]."""


def aec_env(game: str | Game, render_mode: str | None = None) -> AECEnv[str, Observation, int]:
    """Make an environment of a game: an illegal action ends it with -1 for who chose it and 0 for the other side."""
    legal: Any = TerminateIllegalWrapper(AecGame(make_game(game), render_mode), illegal_reward=-1)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(legal))


class AecGame(AECEnv[str, Observation, int]):
    """A game as an environment, without the wrappers of `env`.

    The agents are ``player_0``, which is side 0 of the game, and ``player_1``. `agent_selection` is the side to move,
    which may be the same one twice in a row. Chance is decided by the seed of `reset`. The rewards are 0 until the game
    is over, and then its score for each side.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi", "human"], "is_parallelizable": False}

    def __init__(self, game: Game, render_mode: str | None = None) -> None:
        super().__init__()
        if type(game).seat is not Game.seat:
            raise BadInput(f"{game.name} cannot be an environment of PettingZoo, for a side has several hands in it")
        if render_mode not in (None, "ansi", "human"):
            raise BadInput(f"render_mode is {render_mode!r}, but must be 'ansi', 'human' or None")
        self.game = game
        self.render_mode = render_mode
        self.possible_agents = ["player_0", "player_1"]
        self.action_spaces = {agent: Discrete(game.num_actions) for agent in self.possible_agents}
        self.observation_spaces = {agent: _observation_space(game) for agent in self.possible_agents}
        self._draws: np.random.Generator | None = None
        self._state: State = None

    def __str__(self) -> str:
        return self.game.spec

    def observation_space(self, agent: str) -> Any:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game; without a seed, the draws go on from those of the game before."""
        if seed is not None or self._draws is None:
            self._draws = np.random.default_rng(seed)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        key = jax.random.key(int(self._draws.integers(2**31)))
        self._state = jax.device_get(_begin(self.game, key, self._draws.random(dtype=np.float32)))
        self._look()

    def step(self, action: int | None) -> None:
        """Play a legal action of the side to move; None where that agent's game is over."""
        assert self._draws is not None, "reset comes first"
        if self.terminations[self.agent_selection] or self.truncations[self.agent_selection]:
            return self._was_dead_step(action)
        assert action is not None
        self._cumulative_rewards[self.agent_selection] = 0.0
        draw = self._draws.random(dtype=np.float32)
        self._state = jax.device_get(_play(self.game, self._state, np.int32(action), draw))
        self._look()
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()
        return None

    def _look(self) -> None:
        """See who is to move, what that side sees, and whether the game is over."""
        player, over, score, legal, observation = jax.device_get(_ask(self.game, self._state))
        self._mask, self._observation = legal.astype(np.int8), observation
        if not over:
            self.agent_selection = self.possible_agents[int(player)]
            return
        self.terminations = dict.fromkeys(self.agents, True)
        self.rewards = {agent: sign * float(score) for agent, sign in zip(self.possible_agents, (1, -1), strict=True)}
        self.agent_selection = self.possible_agents[0]

    def observe(self, agent: str) -> Observation:
        """Return what `agent` sees.

        One that is not to move has no legal action, and sees the board as the other does; zeros where cards are hidden.
        """
        is_to_move = agent == self.agent_selection and not self.terminations[agent]
        seen = is_to_move or not self.game.hidden
        return {
            "observation": self._observation.copy() if seen else np.zeros_like(self._observation),
            "action_mask": self._mask.copy() if is_to_move else np.zeros_like(self._mask),
        }

    def render(self) -> str | None:
        """Draw the board as text: all of it, as people see it who watch. Prints it where the mode is human."""
        text = self.game.show(self._state, OPEN if self.game.hidden else 0)
        if self.render_mode == "ansi":
            return text
        if self.render_mode == "human":
            print(text)
        return None

    def close(self) -> None:
        """Do nothing: there is nothing open."""


def _observation_space(game: Game) -> Any:
    observation = Box(-np.inf, np.inf, game.observation_shape, np.float32)
    return Dict({"observation": observation, "action_mask": Box(0, 1, (game.num_actions,), np.int8)})


@functools.partial(jax.jit, static_argnums=0)
def _begin(game: Game, key: Array, draw: Array) -> State:
    return resolve_chance(game, game.init(key), draw)


@functools.partial(jax.jit, static_argnums=0)
def _play(game: Game, state: State, action: Array, draw: Array) -> State:
    return resolve_chance(game, game.step(state, action), draw)


@functools.partial(jax.jit, static_argnums=0)
def _ask(game: Game, state: State) -> tuple[Array, Array, Array, Array, Array]:
    """Return the side to move, whether the game is over, its score, the legal actions and the observation."""
    over = game.over(state)
    observation = game.observe(state)
    return game.player(state), over, game.score(state), game.legal(state) & jnp.logical_not(over), observation
