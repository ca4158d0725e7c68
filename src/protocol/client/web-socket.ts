import type { OpenSocket } from "./ports.ts";

/** Sockets of the platform: every browser has them. */
export const openWebSocket: OpenSocket = (url, handlers) => {
  const socket = new WebSocket(url);
  socket.addEventListener("open", () => handlers.onOpen());
  socket.addEventListener("message", ({ data }: { readonly data: unknown }) => {
    if (typeof data === "string") handlers.onText(data);
  });
  socket.addEventListener("close", ({ code, reason }) => handlers.onClose(code, reason));
  return { send: (text) => socket.send(text), close: (code, reason) => socket.close(code, reason) };
};
