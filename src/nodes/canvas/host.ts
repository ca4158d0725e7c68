import type { IncomingMessage, ServerResponse, OutgoingHttpHeaders } from "node:http";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { openBelow } from "../../base/open-below.ts";
import { webFileType } from "../../base/web-file-types.ts";
import { CANVAS_PREFIX, type CanvasPath } from "./paths.ts";

/** One request for the canvas, authorised. */
export interface CanvasExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly at: CanvasPath;
}

export interface CanvasHostDeps {
  /** Folder with the pages that agents write. */
  readonly root: () => string;
  /** Folder with the code of the canvas: the bridge and A2UI. */
  readonly codeFolder: string;
  readonly liveReload: () => boolean;
}

/** Names and addresses as they may stand in a policy. An IPv6 address may not; `'self'` has to do there. */
const HOST = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?$/i;

/**
 * What a page on the canvas may do: run its own scripts and load files of the canvas. It has no origin, so neither cookies nor storage; it cannot leave its
 * frame, open windows, send forms, or reach another host or another path of the gateway.
 */
function canvasPolicy(host: string | undefined, prefix: string): string {
  const named = host !== undefined && HOST.test(host);
  const at = `${host}${prefix}/__openclaw__/`;
  const files = named ? `http://${at} https://${at}` : "'self'";
  const sockets = named ? `ws://${at}ws wss://${at}ws` : "'self'";
  return [
    "sandbox allow-scripts allow-forms",
    "default-src 'none'",
    `script-src 'unsafe-inline' 'unsafe-eval' blob: ${files}`,
    `style-src 'unsafe-inline' ${files}`,
    `img-src data: blob: ${files}`,
    `media-src data: blob: ${files}`,
    `font-src data: ${files}`,
    `connect-src data: blob: ${files} ${sockets}`,
    "worker-src blob:",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'self'",
  ].join("; ");
}

const PERMISSIONS = ["camera", "display-capture", "geolocation", "hid", "microphone", "midi", "payment", "serial", "usb"]
  .map((name) => `${name}=()`)
  .join(", ");

/**
 * On every answer of the canvas. A page without an origin needs CORS for modules, fonts and `fetch` of its own files: where the address holds a capability,
 * anyone who knows it may read anyway.
 */
const canvasHeaders = (host: string | undefined, prefix: string): OutgoingHttpHeaders => ({
  "content-security-policy": canvasPolicy(host, prefix),
  "permissions-policy": PERMISSIONS,
  // A name that is looked up ahead would tell its owner something; a policy does not stop it.
  "x-dns-prefetch-control": "off",
  "cross-origin-resource-policy": prefix === "" ? "same-origin" : "cross-origin",
  "cache-control": "no-store",
  ...(prefix === "" ? {} : { "access-control-allow-origin": "*" }),
});

/** Larger pages are sent as they are, without the bridge. */
const MOST_HTML = 5 * 1024 * 1024;
/** Files of ours, by the names under which they are asked for. */
const OWN: ReadonlySet<string> = new Set(["bridge.js", "a2ui.js", "a2ui.css"]);

const EMPTY_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Canvas</title>
<body style="font: 16px/1.6 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; color: #777"><p>Nothing to show yet</p></body></html>`;

const A2UI_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Canvas</title>
<link rel="stylesheet" href="a2ui.css"></head><body><script src="a2ui.js"></script></body></html>`;

/** Connections and look-ups that a page asks for ahead of time reach other hosts: the policy of the page does not hold for them. */
const LINK = /<link\b[^<>]{0,4000}>/gi;
const HINT = /preconnect|dns-prefetch|prefetch|prerender/i;

/** The page with the bridge ahead of its own scripts, and without hints. */
function withBridge(written: string, prefix: string, live: boolean): string {
  const html = written.replaceAll(LINK, (link) => (HINT.test(link) ? "" : link));
  const script = `<script src="${prefix}${CANVAS_PREFIX}/a2ui/bridge.js"${live ? ` data-live="${prefix}${CANVAS_PREFIX}/ws"` : ""}></script>`;
  const head = /<head(?:\s[^>]*)?>/i.exec(html) ?? /^\s*<!doctype[^>]*>/i.exec(html);
  const at = head ? head.index + head[0].length : 0;
  return html.slice(0, at) + script + html.slice(at);
}

function sendText({ request, response, at }: CanvasExchange, status: number, type: string, text: string): void {
  response.writeHead(status, { ...canvasHeaders(request.headers.host, at.prefix), "content-type": type, "content-length": Buffer.byteLength(text) });
  response.end(request.method === "HEAD" ? undefined : text);
}

function sendAbsent(exchange: CanvasExchange, name: string): void {
  sendText(exchange, 404, "text/plain; charset=utf-8", `There is no file ${JSON.stringify(name)} on the canvas.\n`);
}

async function sendOpened(exchange: CanvasExchange, handle: FileHandle, type: string, live: boolean): Promise<void> {
  const { request, response, at } = exchange;
  const { size } = await handle.stat();
  if (type.startsWith("text/html") && size <= MOST_HTML) return sendText(exchange, 200, type, withBridge(await handle.readFile("utf8"), at.prefix, live));
  response.writeHead(200, { ...canvasHeaders(request.headers.host, at.prefix), "content-type": type, "content-length": size });
  if (request.method === "HEAD" || size === 0) response.end();
  else await pipeline(handle.createReadStream({ autoClose: false, end: size - 1 }), response).catch(() => response.destroy());
}

/** A file that may be shown; undefined for any other. Files whose names begin with a dot are nobody's page. */
async function openShown(folder: string, name: string): Promise<{ readonly handle: FileHandle; readonly type: string } | undefined> {
  const type = webFileType(name);
  if (type === undefined || name.split("/").some((part) => part.startsWith("."))) return undefined;
  const handle = await openBelow(folder, name);
  return handle && { handle, type };
}

/** The file that a browser asks for at this address. */
function nameIn(address: string): string {
  try {
    return decodeURIComponent(new URL(address, "http://canvas/").pathname.slice(1));
  } catch {
    return address;
  }
}

/** Whether the canvas folder has what an address on the canvas names. Without a name there is a page that says so. */
export async function hasPage(folder: string, address: string): Promise<boolean> {
  const [written = ""] = address.split(/[?#]/);
  if (written === "") return true;
  const name = nameIn(written);
  const opened = await openShown(folder, name.endsWith("/") ? `${name}index.html` : name);
  await opened?.handle.close();
  return opened !== undefined;
}

/** Serves the canvas folder and the code of the canvas. */
export interface CanvasHost {
  handle(exchange: CanvasExchange): Promise<void>;
}

export function createCanvasHost({ root, codeFolder, liveReload }: CanvasHostDeps): CanvasHost {
  async function sendFile(exchange: CanvasExchange, folder: string, name: string): Promise<boolean> {
    const opened = await openShown(folder, name);
    if (!opened) return false;
    await using handle = opened.handle;
    await sendOpened(exchange, handle, opened.type, liveReload());
    return true;
  }

  async function sendPage(exchange: CanvasExchange, name: string): Promise<void> {
    if (name === "" || name.endsWith("/")) {
      if (await sendFile(exchange, root(), `${name}index.html`)) return;
      if (name === "") return sendText(exchange, 200, "text/html; charset=utf-8", withBridge(EMPTY_PAGE, exchange.at.prefix, liveReload()));
    } else if (await sendFile(exchange, root(), name)) return;
    sendAbsent(exchange, name);
  }

  async function sendOwn(exchange: CanvasExchange, name: string): Promise<void> {
    if (name === "" || name === "index.html") return sendText(exchange, 200, "text/html; charset=utf-8", withBridge(A2UI_PAGE, exchange.at.prefix, false));
    if (OWN.has(name) && (await sendFile(exchange, codeFolder, name))) return;
    sendAbsent(exchange, name);
  }

  return {
    async handle(exchange) {
      const { at, response } = exchange;
      const [, area, name] = /^\/__openclaw__\/(canvas|a2ui)(?:\/(.*))?$/.exec(at.path) ?? [];
      if (area === undefined) return sendAbsent(exchange, at.path);
      // Relative addresses of a page are meant from its folder.
      if (name === undefined) return void response.writeHead(302, { location: `${at.prefix}${CANVAS_PREFIX}/${area}/` }).end();
      await (area === "a2ui" ? sendOwn(exchange, name) : sendPage(exchange, name));
    },
  };
}
