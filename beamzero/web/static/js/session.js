// A game session: the game as the server describes it, and the position that is shown: the last, an earlier one or a
// what-if.

import { Socket } from "./api.js";

// The message of errors that are not shown: the question no longer matters, or the connection is lost.
export const FORGOTTEN = "forgotten";

// Events: "change" after anything changed, "shown" when another position is shown, "review", "trouble".
export class GameSession extends EventTarget {
  constructor(id) {
    super();
    this.id = id;
    this.info = null; // the last message of type "table"
    this.shown = null; // the Position on the board
    this.index = 0; // how many moves of `line` lead to it
    this.following = true; // whether new moves of the game are shown as they come
    this.branch = null; // {at, moves}: moves that were not played, after the first `at` of the game
    this.trying = false; // whether moves on the board are only tried
    this.state = "connecting";
    this.requests = 0;
    this.waiting = new Map();
    this.socket = new Socket(`/api/tables/${encodeURIComponent(id)}/socket`, {
      onMessage: (message) => this.receive(message),
      onState: (state, reason) => this.changeState(state, reason),
    });
  }

  close() {
    this.socket.close();
    this.forgetRequests();
  }

  recordPath(format) {
    return `/api/tables/${encodeURIComponent(this.id)}/record?format=${format}`;
  }

  // --- what is known -----------------------------------------------------------------------------------------------

  // The moves from the start through the shown position and on, as far as they are known.
  get line() {
    const played = this.info.moves;
    return this.branch ? [...played.slice(0, this.branch.at), ...this.branch.moves] : played;
  }

  get isWhatIf() {
    return this.branch !== null && this.index > this.branch.at;
  }

  isHuman(side) {
    return this.info.seats[side] === "human";
  }

  get humans() {
    return [0, 1].filter((side) => this.isHuman(side));
  }

  // Whether a move on the board is made in the game, not tried.
  get isMyTurn() {
    const { over, turn } = this.info;
    return this.following && !this.trying && !over && turn !== null && this.isHuman(turn);
  }

  get canPlay() {
    if (this.state !== "open" || !this.shown || this.shown.legal.length === 0) return false;
    if (this.info.secret && !this.isMyTurn) return false; // nothing can be tried
    const waitsForAgent = this.following && !this.trying && !this.info.over && this.humans.length > 0;
    return this.isMyTurn || !waitsForAgent;
  }

  // --- what people do ----------------------------------------------------------------------------------------------

  play(move) {
    if (this.isMyTurn) this.socket.send({ type: "move", ply: this.info.moves.length, move });
    else this.tryMove(move);
  }

  tryMove(move) {
    if (this.info.secret) return this.tell("There are hidden cards: moves can be tried once the game is over.");
    if (this.line[this.index] === move) return this.goTo(this.index + 1);
    const at = this.branch ? Math.min(this.branch.at, this.index) : this.index;
    const kept = this.isWhatIf ? this.branch.moves.slice(0, this.index - at) : [];
    this.branch = { at, moves: [...kept, move] };
    return this.goTo(this.index + 1);
  }

  leaveWhatIf() {
    this.branch = null;
    this.goTo(this.info.moves.length);
  }

  // Shows the position of the game itself after `ply` moves, out of any what-if.
  goToPlayed(ply) {
    if (this.branch && ply > this.branch.at) this.branch = null;
    this.goTo(ply);
  }

  // Shows the position after the first `index` moves of the line.
  async goTo(index) {
    index = Math.max(0, Math.min(index, this.line.length));
    if (!this.branch && index === this.info.moves.length) return this.follow();
    this.following = false;
    this.index = index;
    this.emit("change");
    const { ply, variation } = this.address(index);
    try {
      const { now } = await this.ask("look", { ply, variation });
      if (!this.following && this.index === index) this.show(now);
    } catch (error) {
      if (error.message !== FORGOTTEN) this.tell(error.message);
    }
  }

  follow() {
    this.following = true;
    this.index = this.info.moves.length;
    this.show(this.info.now);
    if (this.info.over) this.lookAtEnd();
  }

  // After a resignation or a lost clock the rules let the game go on: other moves can be tried there.
  async lookAtEnd() {
    const { info } = this;
    const { now } = await this.ask("look", { ply: info.moves.length, variation: [] }).catch(() => ({}));
    if (now && this.following && info === this.info) this.show(now);
  }

  // How `look` and `analyse` name the position after `index` moves of the line.
  address(index = this.index) {
    const ply = this.branch ? Math.min(this.branch.at, index) : index;
    return { ply, variation: this.line.slice(ply, index) };
  }

  // The position after more moves from the shown one, without showing it.
  async peek(moves) {
    const { ply, variation } = this.address();
    return (await this.ask("look", { ply, variation: [...variation, ...moves] })).now;
  }

  tell(message) {
    this.emit("trouble", message);
  }

  send(type) {
    this.socket.send({ type });
  }

  // A question that one message answers.
  ask(type, body) {
    const number = ++this.requests;
    return new Promise((resolve, reject) => {
      if (!this.socket.send({ type, request: number, ...body })) return reject(new Error(FORGOTTEN));
      this.waiting.set(number, { resolve, reject });
    });
  }

  // Asks for an analysis of the shown position. The server drops the question when another, or a review, is asked.
  async analyse(agent) {
    this.forgetRequest(this.analysed);
    const { ply, variation } = this.shown;
    const answer = this.ask("analyse", { ply, variation, agent });
    this.analysed = this.requests;
    return answer;
  }

  // Its messages come as events, since there are many.
  review(agent) {
    this.forgetRequest(this.analysed);
    this.reviewed = ++this.requests;
    this.socket.send({ type: "review", request: this.reviewed, agent });
  }

  // --- what the server says ----------------------------------------------------------------------------------------

  receive(message) {
    const waiting = this.waiting.get(message.request);
    this.waiting.delete(message.request);
    if (message.type === "table") this.takeState(message);
    else if (message.request && message.request === this.reviewed) this.emit("review", message);
    else if (message.type === "error" && waiting) waiting.reject(new Error(message.message));
    else if (message.type === "error") this.tell(message.message);
    else waiting?.resolve(message);
  }

  takeState(info) {
    this.info = { ...info, received: performance.now() };
    if (this.branch && this.branch.at > info.moves.length) this.branch = null;
    if (this.index > this.line.length) this.following = true;
    if (this.following) this.follow();
    else this.emit("change");
  }

  changeState(state, reason) {
    this.state = state;
    if (state !== "open") this.forgetRequests();
    this.goneBecause = reason || "There is no such game.";
    this.emit("change");
  }

  forgetRequests() {
    for (const number of [...this.waiting.keys()]) this.forgetRequest(number);
  }

  forgetRequest(number) {
    this.waiting.get(number)?.reject(new Error(FORGOTTEN));
    this.waiting.delete(number);
  }

  // A message may repeat what is shown already: then the board stays as it is.
  show(position) {
    const before = this.shown;
    if (JSON.stringify(position) !== JSON.stringify(before)) {
      this.shown = position;
      this.emit("shown", before);
    }
    this.emit("change");
  }

  emit(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
