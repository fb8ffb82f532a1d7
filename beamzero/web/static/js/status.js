// The state of a game, in a sentence.

export function nameOf(info, side) {
  const { names, sides } = info;
  return names[side] && names[side] !== sides[side] ? `${names[side]} (${sides[side]})` : sides[side];
}

export function statusText(session) {
  const { info, shown } = session;
  if (session.isWhatIf) return shown?.over ? `What if: the game would be over, ${shown.reason}.` : "What if: only tried.";
  if (!session.following) return `Position after ${session.index} of ${info.moves.length} moves.`;
  if (info.over) return resultText(info);
  if (info.paused) return "Paused.";
  const mover = nameOf(info, info.turn);
  if (info.thinking) return `${mover} is thinking…`;
  if (!session.isHuman(info.turn)) return `${mover} to move.`;
  return `${session.humans.length === 1 ? "Your turn: " : ""}${info.sides[info.turn]} to move.`;
}

export function resultText(info) {
  const { score, text, reason } = info.result ?? {};
  const winner = score > 0 ? `${nameOf(info, 0)} wins` : score < 0 ? `${nameOf(info, 1)} wins` : "Draw";
  return `${winner}, ${text}${reason ? `: ${reason}` : ""}.`;
}
