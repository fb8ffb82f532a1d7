// The search of the site runs in a worker, and a browser starts none for a page that was opened as a file. There the
// same script runs in a hidden frame, which passes messages on.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(script) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.ready = new Promise((resolve) => {
        const inside = frame.contentWindow;
        inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        const loaded = inside.document.createElement("script");
        loaded.src = new URL(script, location.href).href;
        loaded.onload = () => resolve(inside);
        inside.document.body.append(loaded);
      });
    }

    postMessage(data) {
      this.ready.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
