/** The browser of a node, asked over its command `browser.proxy`. What comes back was checked by nobody. */
import { AppError, messageOf } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import { formatBytes } from "../../base/text.ts";
import { loadSaving } from "../../media/index.ts";
import type { PageAnswer } from "../answers.ts";
import type { FilesDeps, Picture } from "../files.ts";
import { numberIn, textIn, type Params } from "../params.ts";
import type { ProxyAnswer, ProxyFile, ProxyRequest } from "../proxy.ts";
import { MAX_FILE_BYTES } from "../settings.ts";
import type { Asked, ToolBrowser } from "./tool-browser.ts";

export interface NodeBrowserDeps {
  readonly nodeId: string;
  /** Sends a request to the node; rejects with what the node says. */
  readonly send: (request: ProxyRequest & Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<unknown>;
  readonly files: Pick<FilesDeps, "stateDir" | "ids">;
  /** Scripts of the agent may run in pages, as far as this gateway is concerned. */
  readonly evaluateEnabled: () => boolean;
}

const MAX_TEXT = 80_000;
const MAX_EVENTS = 20;

const text = (value: unknown, most = MAX_TEXT): string => (typeof value === "string" ? value.slice(0, most) : "");

const SHOWS: readonly PageAnswer["shows"][] = ["snapshot", "diff", "same", "none"];

/** The id of a tab. It is shown as it is, so it is one or nothing. */
const tabIn = (value: unknown): string => /^t\d{1,9}$/.exec(text(isRecord(value) ? value["targetId"] : undefined, 20))?.[0] ?? "";

/** An answer about a page, with the fields that it may have. Its note is a text of the node like all others. */
function pageOf(value: unknown): PageAnswer {
  const answer = isRecord(value) ? value : {};
  const note = text(answer["note"], 1000);
  const shown = text(answer["text"]);
  return {
    ok: true,
    targetId: tabIn(answer),
    url: text(answer["url"], 2000),
    title: text(answer["title"], 300),
    shows: SHOWS.find((known) => known === answer["shows"]) ?? "none",
    text: note === "" ? shown : `(${note})\n${shown}`,
    truncated: answer["truncated"] === true,
    events: (Array.isArray(answer["events"]) ? answer["events"] : []).slice(0, MAX_EVENTS).map((event) => text(event, 500)),
    ...(answer["result"] === undefined ? {} : { result: answer["result"] }),
  };
}

/** A request's answer and the files that came with it. */
export function proxyAnswer(payload: unknown): ProxyAnswer {
  if (!isRecord(payload) || !("result" in payload)) throw new AppError("UNAVAILABLE", "the node's browser returned an unreadable response");
  const files = (Array.isArray(payload["files"]) ? payload["files"] : []).filter(
    (file): file is ProxyFile => isRecord(file) && typeof file["path"] === "string" && typeof file["base64"] === "string",
  );
  return { result: payload["result"], files };
}

/** Stores a file that a node sent, as this machine's browser stores its own. */
async function stored({ base64, mimeType }: ProxyFile, name: string | undefined, files: NodeBrowserDeps["files"]) {
  const contentType = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(mimeType ?? "") ? String(mimeType) : "application/octet-stream";
  const { saveMedia } = await loadSaving();
  const file = { buffer: Buffer.from(base64, "base64"), contentType, subdir: "browser", maxBytes: MAX_FILE_BYTES, originalFilename: name };
  return { ...(await saveMedia(file, files)), contentType };
}

/** Stores the file that an answer names. */
export async function storedFile({ result, files: sent = [] }: ProxyAnswer, files: NodeBrowserDeps["files"]): Promise<Picture> {
  const wanted = isRecord(result) ? result["path"] : undefined;
  const file = sent.find(({ path }) => path === wanted);
  if (!file) throw new AppError("UNAVAILABLE", "the node did not send its browser's file");
  const { path, contentType } = await stored(file, undefined, files);
  return { path, data: file.base64, mimeType: contentType };
}

/** Where a download of a node is now. */
async function downloadHere(download: Params, sent: readonly ProxyFile[], files: NodeBrowserDeps["files"]): Promise<Params> {
  const [path, name] = [text(download["path"], 500), text(download["name"], 200)];
  const bytes = typeof download["bytes"] === "number" ? download["bytes"] : 0;
  const what = `downloaded ${JSON.stringify(name.slice(0, 100))}`;
  const there = (why: string): Params => ({ name, bytes, event: `${what} (${formatBytes(bytes)}) on the node, where it stays: ${why}. It is ${path} there` });
  const file = sent.find((one) => one.path === download["path"]);
  if (!file) return there(`a node sends up to ${formatBytes(MAX_FILE_BYTES)} of downloads with one answer`);
  try {
    const here = await stored(file, name, files);
    return { path: here.path, name, bytes: here.size, event: `${what} (${formatBytes(here.size)}) to ${here.path}` };
  } catch (error) {
    return there(messageOf(error));
  }
}

/** An answer whose downloads are stored here: its events name the copies, or why there is none. */
export async function withDownloads({ result, files: sent = [] }: ProxyAnswer, files: NodeBrowserDeps["files"]): Promise<unknown> {
  if (!isRecord(result) || !Array.isArray(result["downloads"])) return result;
  const events: unknown[] = Array.isArray(result["events"]) ? result["events"].slice(0, MAX_EVENTS) : [];
  const downloads: Params[] = [];
  for (const one of result["downloads"].filter(isRecord).slice(0, MAX_EVENTS)) {
    const here = await downloadHere(one, sent, files);
    const at = events.indexOf(one["event"]);
    events.splice(at < 0 ? events.length : at, at < 0 ? 0 : 1, here["event"]);
    downloads.push(here);
  }
  return { ...result, events, downloads };
}

/** Refuses what runs a script of the caller in a page, where that is turned off on this side. */
export function checkScripts(params: Params, isEnabled: boolean): void {
  if (isEnabled || (textIn(params, "kind")?.toLowerCase() !== "evaluate" && textIn(params, "fn") === undefined)) return;
  throw new AppError("PERMISSION_DENIED", "running scripts in pages is turned off by browser.evaluateEnabled");
}

export function browserOfNode({ nodeId, send, files, evaluateEnabled }: NodeBrowserDeps): ToolBrowser {
  async function ask(method: ProxyRequest["method"], path: string, { caller, params }: Asked): Promise<ProxyAnswer> {
    const sent: Params = Object.fromEntries(Object.entries(params).filter(([name]) => !["action", "target", "node"].includes(name)));
    const timeoutMs = numberIn(params, "timeoutMs");
    const request = {
      method,
      path,
      session: caller.key,
      ...(method === "POST" ? { body: sent } : { query: sent }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
      ...(caller.profile === undefined ? {} : { profile: caller.profile }),
    };
    return proxyAnswer(await send(request, caller.signal));
  }
  const plain = (method: ProxyRequest["method"], path: string) => async (asked: Asked) => {
    const { result } = await ask(method, path, asked);
    return isRecord(result) ? result : {};
  };
  const page = (path: string) => async (asked: Asked) => pageOf(await withDownloads(await ask("POST", path, asked), files));

  return {
    isForeign: true,
    keyOf: ({ profile }) => `node:${nodeId}:${profile ?? ""}`,
    status: plain("GET", "/"),
    start: plain("POST", "/start"),
    stop: plain("POST", "/stop"),
    async profiles(asked) {
      const { profiles } = await plain("GET", "/profiles")(asked);
      return { profiles: Array.isArray(profiles) ? profiles.filter(isRecord) : [] };
    },
    async tabs(asked) {
      const { tabs } = await plain("GET", "/tabs")(asked);
      return Array.isArray(tabs) ? tabs.filter(isRecord) : [];
    },
    open: page("/tabs/open"),
    navigate: page("/navigate"),
    focus: plain("POST", "/tabs/focus"),
    close: (asked) => page("/act")({ ...asked, params: { kind: "close", targetId: asked.params["targetId"] } }),
    async snapshot(asked) {
      const answer = await ask("GET", "/snapshot", { ...asked, params: { ...asked.params, labels: undefined } });
      const result = await withDownloads(answer, files);
      const nodes = isRecord(result) && Array.isArray(result["nodes"]) ? result["nodes"].filter(isRecord).slice(0, 500) : undefined;
      return { ...pageOf(result), ...(nodes ? { nodes } : {}) };
    },
    async screenshot(asked) {
      const answer = await ask("POST", "/screenshot", asked);
      return { ...(await storedFile(answer, files)), targetId: tabIn(answer.result) };
    },
    async console(asked) {
      const { messages, ...answer } = await plain("GET", "/console")(asked);
      const rows = (Array.isArray(messages) ? messages : []).filter(isRecord).slice(-50);
      return { targetId: tabIn(answer), messages: rows.map((row) => ({ level: text(row["level"], 20), text: text(row["text"], 500) })) };
    },
    async pdf(asked) {
      const answer = await ask("POST", "/pdf", asked);
      return { path: (await storedFile(answer, files)).path, targetId: tabIn(answer.result) };
    },
    upload: page("/hooks/file-chooser"),
    dialog: plain("POST", "/hooks/dialog"),
    act(asked) {
      checkScripts(asked.params, evaluateEnabled());
      return page("/act")(asked);
    },
  };
}
