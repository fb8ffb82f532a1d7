// Talking with the server: requests, and a socket that connects again when it is lost.

const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;
const FOR_GOOD = 4000; // close codes from here on are the server's own: there is no use in trying again

export async function request(method, path, body) {
  let response;
  try {
    response = await fetch(path, {
      method,
      headers: body ? { "Content-Type": "application/json" } : {},
      body: body && JSON.stringify(body),
    });
  } catch {
    throw new Error("The server does not answer.");
  }
  const answer = response.status === 204 ? null : await response.json().catch(() => null);
  if (!response.ok) throw new Error(answer?.error ?? `The server answers ${response.status}.`);
  return answer;
}

export const get = (path) => request("GET", path);
export const post = (path, body) => request("POST", path, body);
export const remove = (path) => request("DELETE", path);

export class Socket {
  constructor(path, { onMessage, onState }) {
    Object.assign(this, { path, onMessage, onState, wait: FIRST_WAIT, closed: false });
    this.wake = () => this.timer && this.connect();
    addEventListener("online", this.wake);
    this.connect();
  }

  get open() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect() {
    clearTimeout(this.timer);
    this.timer = null;
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}${this.path}`);
    socket.onopen = () => {
      this.wait = FIRST_WAIT;
      this.onState("open");
    };
    socket.onmessage = (event) => this.onMessage(JSON.parse(event.data));
    socket.onclose = (event) => {
      if (this.closed) return;
      if (event.code >= FOR_GOOD) {
        this.close();
        return this.onState("gone", event.reason);
      }
      this.onState("lost");
      this.timer = setTimeout(() => this.connect(), this.wait);
      this.wait = Math.min(2 * this.wait, LONGEST_WAIT);
    };
    this.socket = socket;
  }

  send(message) {
    if (this.open) this.socket.send(JSON.stringify(message));
    return this.open;
  }

  close() {
    this.closed = true;
    clearTimeout(this.timer);
    removeEventListener("online", this.wake);
    this.socket.close();
  }
}
