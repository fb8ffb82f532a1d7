// The play page: it opens the game session of its address, and joins board, clocks, moves and analysis to it.

import { get, post } from "./api.js";
import { Analysis } from "./analysis.js";
import { Board } from "./boards/board.js";
import { sideColours } from "./boards/palette.js";
import { Clocks } from "./clock.js";
import { $, el } from "./dom.js";
import { showEarlier } from "./games.js";
import { MoveList } from "./moves.js";
import { NewGame } from "./newgame.js";
import { play, setUpSound } from "./sound.js";
import { resultText, statusText } from "./status.js";
import { GameSession } from "./session.js";
import { setUpTheme } from "./theme.js";

const STEP_KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };

class PlayPage {
  constructor(games) {
    this.games = games;
    this.session = null;
    this.turnedByHand = false;
    this.board = new Board($("board"), (moves) => this.meant(moves));
    this.analysis = new Analysis(this.board);
    this.clocks = new Clocks();
    this.moves = new MoveList((ply) => this.session.goToPlayed(ply));
    this.newGame = new NewGame(games, (id) => (location.hash = `t=${id}`));
    this.setUpButtons();
    this.showGallery();
    addEventListener("hashchange", () => this.followAddress());
    this.followAddress();
  }

  // --- which session -----------------------------------------------------------------------------------------------

  followAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    if (address.has("new")) {
      history.replaceState(null, "", location.pathname);
      this.newGame.open({ game: address.get("new"), opponent: address.get("opponent") });
    }
    const id = address.get("t");
    if (id && id === this.session?.id) return;
    this.leave();
    if (id) this.enter(id);
    $("welcome").hidden = Boolean(id);
    this.showEarlier();
  }

  enter(id) {
    const session = new GameSession(id);
    this.session = session;
    session.addEventListener("change", () => this.show());
    session.addEventListener("shown", ({ detail }) => this.showPosition(detail));
    session.addEventListener("trouble", ({ detail }) => this.tell(detail));
    this.analysis.use(session);
  }

  leave() {
    this.session?.close();
    this.session = this.announced = null;
    this.turnedByHand = false;
    $("session").hidden = true;
    $("connection").hidden = true;
    document.title = "Play · beamzero";
    this.tell("");
  }

  async showEarlier() {
    const onDeleted = (id) => {
      if (id === this.session?.id) location.hash = "";
      else this.showEarlier();
    };
    await showEarlier(this.session?.id, onDeleted).catch(() => {});
  }

  showGallery() {
    $("gallery").replaceChildren(
      ...this.games.map((game) =>
        el(
          "li",
          {},
          el(
            "button",
            { type: "button", "data-game": game.id, click: () => this.newGame.open({ game: game.id }) },
            el("strong", {}, game.title),
            el("span", {}, game.about),
          ),
        ),
      ),
    );
  }

  // --- what people do ----------------------------------------------------------------------------------------------

  setUpButtons() {
    const on = (id, action) => $(id).addEventListener("click", action);
    $("new-game").disabled = false;
    on("new-game", () => this.newGame.open({ game: this.session?.info?.game }));
    on("undo", () => this.session.send("undo"));
    on("swap", () => this.session.send("swap"));
    on("pause", () => this.session.send(this.session.info.paused ? "go" : "pause"));
    on("turn", () => this.turn());
    on("resign", () => this.askResign(true));
    on("resign-cancel", () => this.askResign(false));
    on("resign-confirm", () => {
      this.session.send("resign");
      this.askResign(false);
    });
    on("first", () => this.session.goTo(0));
    on("back", () => this.session.goTo(this.session.index - 1));
    on("forward", () => this.session.goTo(this.session.index + 1));
    on("last", () => this.session.goTo(this.session.line.length));
    on("try", () => this.toggleTrying());
    on("whatif-back", () => this.session.leaveWhatIf());
    on("play-on", () => this.playOn());
    on("choice-cancel", () => $("choice").close());
    $("choice").addEventListener("close", () => this.board.putBack());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const isElsewhere = event.target.closest("input, select, textarea, dialog, [role=grid], [role=slider]");
    if (!(event.key in STEP_KEYS) || !this.session?.info || isElsewhere) return;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    $(STEP_KEYS[event.key]).click();
  }

  askResign(asks) {
    $("resign-ask").hidden = !asks;
    (asks ? $("resign-confirm") : $("resign")).focus();
  }

  toggleTrying() {
    this.session.trying = !this.session.trying;
    if (!this.session.trying && this.session.isWhatIf) this.session.leaveWhatIf();
    else this.show();
  }

  turn() {
    this.turnedByHand = !this.turnedByHand;
    this.showPosition(null);
    this.show();
  }

  meant(moves) {
    if (moves.length === 1) return this.session.play(moves[0]);
    const choose = (move) => {
      this.session.play(move);
      $("choice").close();
    };
    $("choice-moves").replaceChildren(...moves.map((move) => moveButton(move, () => choose(move))));
    return $("choice").showModal();
  }

  async playOn() {
    const { info, index, line } = this.session;
    const { clock, game, seats, start } = info;
    const body = { game, seats, position: start, moves: line.slice(0, index), clock: clock && this.fullClock(clock) };
    try {
      const { id } = await post("/api/tables", body);
      location.hash = `t=${id}`;
    } catch (error) {
      this.tell(error.message);
    }
  }

  // The server does not say with how much time a clock began: the time left, at least a minute, is near enough.
  fullClock({ left, increment }) {
    return { minutes: Math.max(1, Math.ceil(Math.max(...left) / 60)), increment };
  }

  // --- what is shown -----------------------------------------------------------------------------------------------

  get isTurned() {
    const { humans, shown } = this.session;
    const sitsOpposite = humans.length === 1 && humans[0] === 1;
    return Boolean(shown.view.turn) && sitsOpposite !== this.turnedByHand;
  }

  // The side that sits below the board.
  get near() {
    const { view } = this.session.shown;
    if (view.kind === "cards") return view.defenders.includes(view.seat) ? 1 : 0;
    return this.isTurned ? 1 : 0;
  }

  showPosition(before) {
    const { session } = this;
    const { shown, info } = session;
    const step = before ? plies(shown) - plies(before) : 0;
    const turned = this.isTurned;
    this.board.nearSide = this.near;
    const colours = sideColours(shown.view);
    colours.forEach((colour, side) => $("session").style.setProperty(`--side-${side}`, colour));
    this.board.show(shown, {
      turned,
      sides: info.sides,
      playable: session.canPlay,
      step,
      hurry: !session.following,
    });
    if (step === 1) play(info.over && session.following ? "end" : "move");
    this.showPlaceless();
  }

  // Moves that cannot be clicked on the board are buttons.
  showPlaceless() {
    const { session, board } = this;
    const show = () => {
      if (session !== this.session) return;
      const moves = session.canPlay ? session.shown.legal.filter((move) => !board.isOnBoard(move)) : [];
      $("placeless").replaceChildren(...moves.map(({ move }) => moveButton(move, () => session.play(move))));
    };
    board.queue = board.queue.then(show);
  }

  show() {
    const { session } = this;
    this.showConnection();
    const { info } = session;
    if (!info) return;
    $("session").hidden = false;
    $("title").textContent = info.title;
    document.title = `${info.title} · beamzero`;
    $("status").textContent = statusText(session);
    $("status").classList.toggle("thinking", info.thinking && session.following);
    $("status").classList.toggle("mine", session.isMyTurn);
    $("preparing").hidden = !info.preparing;
    $("preparing").textContent = info.preparing ? `Preparing: ${info.preparing}…` : "";
    if (info !== this.latest) this.tell(info.trouble ?? "");
    this.latest = info;
    $("note").textContent = session.shown?.view.note ?? "";
    this.board.setPlayable(session.canPlay);
    this.showPlayers();
    this.showButtons();
    this.clocks.set(info);
    this.moves.show(session, this.analysis.marks);
    this.analysis.showAnalysts(info.agents, info.seats);
    this.analysis.showCurve();
    this.showRecords();
    this.announce();
  }

  showConnection() {
    const { state, goneBecause } = this.session;
    const isGone = state === "gone";
    $("connection").hidden = state !== "lost" && !isGone;
    $("connection").textContent = isGone ? goneBecause : "The connection is lost. Trying again…";
    if (isGone) $("welcome").hidden = false;
  }

  showPlayers() {
    const { info, shown, following } = this.session;
    const isOver = !shown || shown.over || (info.over && following);
    const near = shown ? this.near : 0;
    const key = JSON.stringify([info.names, info.sides, near]);
    if (this.players !== key) {
      this.players = key;
      $("player-far").replaceChildren(...playerStrip(info, 1 - near));
      $("player-near").replaceChildren(...playerStrip(info, near));
    }
    for (const [id, side] of [["player-far", 1 - near], ["player-near", near]]) {
      $(id).classList.toggle("to-move", !isOver && shown.turn === side);
    }
  }

  showButtons() {
    const { info, humans, following, index, line } = this.session;
    const watches = humans.length === 0;
    $("undo").disabled = watches || info.moves.length === 0 || !following || info.hidden;
    $("swap").disabled = humans.length !== 1 || info.over || info.hidden;
    $("resign").disabled = watches || info.over;
    if (info.over) $("resign-ask").hidden = true;
    $("undo").hidden = $("swap").hidden = $("resign").hidden = watches;
    $("pause").hidden = !watches || info.over;
    $("pause").textContent = info.paused ? "Go on" : "Pause";
    $("turn").hidden = !this.session.shown?.view.turn;
    $("first").disabled = $("back").disabled = index === 0;
    $("forward").disabled = $("last").disabled = index === line.length;
    $("try").setAttribute("aria-pressed", this.session.trying);
    $("try").disabled = info.secret;
    $("review").disabled = info.moves.length === 0 || info.secret;
  }

  showRecords() {
    const key = JSON.stringify([this.session.id, this.session.info.formats]);
    if (this.records === key) return;
    this.records = key;
    const link = (format) =>
      el(
        "a",
        { class: "button", href: this.session.recordPath(format), download: "", "data-testid": `record-${format}` },
        `Download ${format.toUpperCase()}`,
      );
    const none = "There are hidden cards: the game can be saved once it is over.";
    $("records").replaceChildren(...(this.session.info.secret ? [none] : this.session.info.formats.map(link)));
  }

  announce() {
    const { info } = this.session;
    const count = info.moves.length;
    const key = `${count} ${info.over}`;
    if (key === this.announced) return;
    const isNews = this.announced !== null;
    this.announced = key;
    if (isNews && count) $("announce").textContent = lastMoveText(info);
    if (info.over && isNews) this.showEarlier();
  }

  tell(message) {
    if (message) this.board.putBack();
    $("trouble").textContent = message;
    $("trouble").hidden = !message;
  }
}

const plies = ({ ply, variation }) => ply + variation.length;

function moveButton(move, click) {
  return el("button", { type: "button", "data-move": move, "data-testid": `move-${move}`, click }, move);
}

function lastMoveText(info) {
  const move = `Move ${info.moves.length}: ${info.moves.at(-1)}.`;
  return info.over ? `${move} ${resultText(info)}` : `${move} ${info.sides[info.turn]} to move.`;
}

function playerStrip(info, side) {
  return [
    el("i", { class: `chip side-${side}`, "aria-hidden": "true" }),
    el("span", { class: "player-name" }, info.names[side]),
    el("span", { class: "small" }, info.names[side] === info.sides[side] ? "" : info.sides[side]),
    el("span", { id: `clock-${side}`, class: "clock", "data-testid": `clock-${side}`, role: "timer", hidden: true }),
  ];
}

setUpTheme();
setUpSound();
get("/api/games").then(
  ({ games }) => new PlayPage(games),
  (error) => {
    $("connection").textContent = error.message;
    $("connection").hidden = false;
  },
);
