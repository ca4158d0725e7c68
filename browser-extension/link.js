/**
 * The connection to the gateway on this machine. Both sides prove that they know the secret before anything else is said, so that no other program that
 * listens on the port gets to drive a tab.
 */

const RETRY_MS = 2000;
const HANDSHAKE_MS = 5000;
const PING_MS = 20_000;
/** Without an answer for so long the connection is dead. */
const SILENCE_MS = 60_000;
const VERSION = 1;

const encoder = new TextEncoder();
const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");

async function proofOf(secret, text) {
  const key = await crypto.subtle.importKey("raw", encoder.encode(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return hex(await crypto.subtle.sign("HMAC", key, encoder.encode(text)));
}

/** `true` when both are the same, in a time that says nothing about where they differ. */
function isSame(one, other) {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at += 1) difference |= one.charCodeAt(at) ^ other.charCodeAt(at % Math.max(1, other.length));
  return difference === 0;
}

/**
 * `wanted()` says whether a connection is needed, `settings()` where to. `changed(state)` gets "on", "waiting", "noSecret", "impostor" or "refused";
 * `tabs()` lists what is shared as the connection is made; `received(message)` comes with what the gateway asks for, `closed()` when it is gone.
 */
export function createLink({ wanted, settings, changed, tabs, received, closed }) {
  let [socket, retry, isReady, isConnecting] = [undefined, undefined, false, false];

  function later() {
    clearTimeout(retry);
    retry = wanted()
      ? setTimeout(() => {
          // A call of the browser's interface keeps this worker alive while a shared tab waits for the gateway.
          void chrome.runtime.getPlatformInfo();
          void connect();
        }, RETRY_MS)
      : undefined;
  }

  function take(made, port, secret) {
    const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
    let [outcome, heard] = ["waiting", Date.now()];
    const limit = setTimeout(() => made.close(), HANDSHAKE_MS);
    const pings = setInterval(() => {
      if (Date.now() - heard > SILENCE_MS) made.close();
      else if (isReady) made.send('{"type":"ping"}');
    }, PING_MS);

    async function answer({ nonce: theirs, proof: shown }) {
      const facts = `${port}|${nonce}|${theirs}`;
      if (!isSame(await proofOf(secret, `relay|${facts}`), String(shown))) {
        outcome = "impostor";
        made.close();
        return;
      }
      outcome = "refused";
      const proof = await proofOf(secret, `extension|${facts}`);
      made.send(JSON.stringify({ type: "proof", proof, userAgent: navigator.userAgent, tabs: tabs() }));
    }

    made.onopen = () => made.send(JSON.stringify({ type: "hello", version: VERSION, nonce }));
    made.onmessage = ({ data }) => {
      heard = Date.now();
      const message = JSON.parse(data);
      if (isReady) {
        if (message.type !== "pong") received(message);
      } else if (message.type === "challenge") void answer(message);
      else if (message.type !== "ready" || outcome !== "refused") made.close();
      else {
        clearTimeout(limit);
        [isReady, outcome] = [true, "waiting"];
        changed("on");
      }
    };
    made.onclose = () => {
      clearTimeout(limit);
      clearInterval(pings);
      const wasReady = isReady;
      [socket, isReady] = [undefined, false];
      if (wasReady) closed();
      changed(outcome);
      later();
    };
  }

  async function connect() {
    if (socket || isConnecting || !wanted()) return;
    isConnecting = true;
    try {
      const found = await settings();
      if (!found) changed("noSecret");
      else if (wanted()) {
        socket = new WebSocket(`ws://127.0.0.1:${found.port}/extension`);
        take(socket, found.port, found.secret);
      }
    } finally {
      isConnecting = false;
      if (!socket) later();
    }
  }

  return {
    connect,
    isReady: () => isReady,
    send(message) {
      if (isReady) socket.send(JSON.stringify(message));
    },
    /** Ends the connection; it is made again when one is wanted. */
    close: () => socket?.close(),
  };
}
