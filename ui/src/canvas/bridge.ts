/**
 * Runs in every document on the canvas, ahead of its own scripts: it carries out what the page asks for, sends what the user does, and reloads when files
 * change. It has no more rights than the document itself.
 */
import { randomId } from "../base/random-id.ts";
import type { FromFrame, ToFrame, UserAction } from "./frame-messages.ts";
import { snapshot } from "./snapshot.ts";

interface Handler {
  postMessage(message: unknown): void;
}

/** What the apps put into their web views. */
interface Native {
  readonly webkit?: { readonly messageHandlers?: { readonly openclawCanvasA2UIAction?: Handler } };
  readonly openclawCanvasA2UIAction?: Handler;
  OpenClaw?: { sendUserAction(action: UserAction): boolean };
}

const MOST_RESULT = 100_000;
const native = globalThis as unknown as Native;
const isFramed = parent !== window;

function say(message: FromFrame): void {
  // The page checks who speaks: a document without an origin cannot name its own.
  if (isFramed) parent.postMessage(message, "*");
}

function resultOf(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  return text.length > MOST_RESULT ? `${text.slice(0, MOST_RESULT)}…` : text;
}

async function work(request: Exclude<ToFrame, { openclaw: "a2ui" }>): Promise<unknown> {
  if (request.openclaw === "snapshot") return snapshot(request);
  // Indirect, so that it runs in the document's scope and not in this one.
  // eslint-disable-next-line no-eval -- running scripts of the agent in the agent's own document is what it is for
  return { result: resultOf(await (0, eval)(request.javaScript)) };
}

function sendUserAction(action: UserAction): boolean {
  const report = { userAction: { id: randomId(), timestamp: new Date().toISOString(), ...action } };
  const [apple, android] = [native.webkit?.messageHandlers?.openclawCanvasA2UIAction, native.openclawCanvasA2UIAction];
  if (apple) apple.postMessage(report);
  else if (android) android.postMessage(JSON.stringify(report));
  else if (isFramed) say({ openclaw: "action", action });
  else return false;
  return true;
}

native.OpenClaw = { sendUserAction };

addEventListener("message", ({ source, data }: MessageEvent<ToFrame>) => {
  if (!isFramed || source !== parent || (data?.openclaw !== "eval" && data?.openclaw !== "snapshot")) return;
  const { id } = data;
  work(data).then(
    (payload) => say({ openclaw: "result", id, ok: true, payload }),
    (error: unknown) => say({ openclaw: "result", id, ok: false, error: String(error).slice(0, 2000) }),
  );
});
addEventListener("load", () => say({ openclaw: "ready" }));

const live = (document.currentScript as HTMLScriptElement | null)?.dataset["live"];
if (live !== undefined) {
  const address = new URL(live, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  new WebSocket(address).addEventListener("message", ({ data }) => data === "reload" && location.reload());
}
