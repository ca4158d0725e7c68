import type { IncomingMessage, ServerResponse } from "node:http";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { openBelow } from "../../base/open-below.ts";
import { webFileType } from "../../base/web-file-types.ts";
import { CANVAS_PREFIX, type CanvasPath } from "./paths.ts";
import { canvasHeaders } from "./policy.ts";

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

/** Larger pages are sent as they are, without the bridge. */
const MOST_HTML = 5 * 1024 * 1024;
/** Files of ours, by the names under which they are asked for. */
const OWN: ReadonlySet<string> = new Set(["bridge.js", "a2ui.js", "a2ui.css"]);

const EMPTY_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Canvas</title>
<body style="font: 16px/1.6 system-ui, sans-serif; display: grid; place-items: center; min-height: 90vh; margin: 0; color: #777"><p>Nothing to show yet</p></body></html>`;

const A2UI_PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Canvas</title>
<link rel="stylesheet" href="a2ui.css"></head><body><script src="a2ui.js"></script></body></html>`;

/** The page with the bridge ahead of its own scripts. */
function withBridge(html: string, prefix: string, live: boolean): string {
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

/** Serves the canvas folder and the code of the canvas. */
export interface CanvasHost {
  handle(exchange: CanvasExchange): Promise<void>;
}

export function createCanvasHost({ root, codeFolder, liveReload }: CanvasHostDeps): CanvasHost {
  async function sendFile(exchange: CanvasExchange, folder: string, name: string): Promise<boolean> {
    const type = webFileType(name);
    // Files whose names begin with a dot are nobody's page.
    if (type === undefined || name.split("/").some((part) => part.startsWith("."))) return false;
    await using handle = await openBelow(folder, name);
    if (!handle) return false;
    await sendOpened(exchange, handle, type, liveReload());
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
