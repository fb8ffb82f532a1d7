// How seeds went round a sowing board, found from the counts before and after a move.

// The seeds at each place; places are "side,house" and "side,store".
export function counts(view) {
  const all = new Map(view.stores.map((count, side) => [`${side},store`, count]));
  view.houses.forEach((houses, side) => houses.forEach((count, house) => all.set(`${side},${house}`, count)));
  return all;
}

// The places that the seeds of the house `start` fell into, in order. A view has only the result of a move, so each way
// of sowing is tried, and the one that explains most is taken; the rest are captures.
export function wayOfSeeds(before, after, start) {
  const seeds = counts(before).get(start);
  if (!seeds) return null;
  const ways = possibleWays(before, start, seeds);
  const scores = ways.map((way) => unexplained(way, before, after, start));
  return ways[scores.indexOf(Math.min(...scores))];
}

// With the mover's store, none or both on the way; from the next house or the same; either way round.
function possibleWays(view, start, seeds) {
  const side = Number(start.split(",")[0]);
  const ways = [];
  for (const stores of [[side], [], [0, 1]]) {
    const places = ring(view, side, stores);
    const from = places.indexOf(start);
    for (const first of [1, 0]) {
      for (const direction of [1, -1]) {
        ways.push(Array.from({ length: seeds }, (_, i) => places.at((from + direction * (first + i)) % places.length)));
      }
    }
  }
  return ways;
}

function ring(view, side, stores) {
  return [side, 1 - side].flatMap((owner) => [
    ...view.houses[owner].map((_, house) => `${owner},${house}`),
    ...(stores.includes(owner) ? [`${owner},store`] : []),
  ]);
}

function unexplained(way, before, after, start) {
  const sown = counts(before).set(start, 0);
  for (const key of way) sown.set(key, sown.get(key) + 1);
  const target = counts(after);
  return [...sown].filter(([key, count]) => count !== target.get(key)).length;
}
