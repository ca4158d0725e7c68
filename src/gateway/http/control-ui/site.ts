import { resolve } from "node:path";
import type { OutgoingHttpHeaders } from "node:http";
import type { FileHandle } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { openBelow } from "../../../base/open-below.ts";
import { webFileType } from "../../../base/web-file-types.ts";
import { defaultAgentId, type Config, type OpenClawConfig } from "../../../config/index.ts";
import { sendError, sendJson, sendText } from "../reply.ts";
import type { Exchange } from "../route.ts";
import { basePathOf, below, restOf } from "../../base-path.ts";
import { acceptedEncodings, isKnown, SUFFIX, type Encoding } from "./negotiation.ts";
import { pageHeaders, fileHeaders } from "./policy.ts";
import type { ControlUiDeps } from "./routes.ts";
import { parseJsonObject } from "../body.ts";
import type { HttpAuth } from "../guard.ts";
import { agentList } from "../../methods/sessions/keys.ts";
import type { HealthReport } from "../../health.ts";

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Why there is no Control UI, and what to do about it. */
const WHY_NONE = {
  "not-built":
    "The Control UI is not built: run <code>npm run build</code> in the checkout, or set <code>gateway.controlUi.root</code> to a folder that contains it.",
  off: "The Control UI is turned off by <code>gateway.controlUi.enabled</code>.",
} as const;

/** What a browser sees where there is no Control UI: that the gateway runs, and whether it is well. Shows nothing private. */
function welcomePage({ status, version }: Pick<HealthReport, "status" | "version">, why: keyof typeof WHY_NONE): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>OpenClaw</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 36rem; margin: 12vh auto; padding: 0 1.5rem; color: #1d1d1f; background: #fafafa }
  h1 { font-size: 1.6rem } code { background: #eee; padding: .1em .4em; border-radius: .3em }
  .status { display: inline-block; padding: .1em .7em; border-radius: 1em; color: #fff; background: ${status === "ok" ? "#2e7d32" : status === "degraded" ? "#b26a00" : "#c62828"} }
  @media (prefers-color-scheme: dark) { body { color: #eee; background: #161618 } code { background: #2a2a2e } }
</style>
<h1>OpenClaw gateway</h1>
<p><span class="status">${escape(status)}</span> version ${escape(version)}</p>
<p>The gateway is running. ${WHY_NONE[why]}</p>
<p>Run <code>openclaw status</code> for details, or <code>openclaw logs --follow</code> to follow the log.</p>
</html>
`;
}

/** Emoji, letters, or a picture's address: paths of files are nobody's business before a login. */
const shown = (avatar: string | undefined): string | undefined =>
  avatar !== undefined && (/^(?:https?:|data:image\/)/i.test(avatar) || /^[^/\\.]{1,16}$/.test(avatar)) ? avatar : undefined;

interface PageFacts {
  readonly version: string;
  readonly runnable: (text: string) => string;
}

/** What the page shows before anybody has logged in. The names are the documented ones; `version` and `program`, what to type in a terminal, are ours. */
function sendPageConfig({ response }: Exchange, config: OpenClawConfig, { version, runnable }: PageFacts): void {
  const assistantAgentId = defaultAgentId(config);
  const agent = agentList(config).find(({ id }) => id.toLowerCase() === assistantAgentId);
  const { name, avatar } = config.ui?.assistant ?? {};
  sendJson(response, 200, {
    basePath: basePathOf(config) ?? "/",
    assistantName: name ?? agent?.identity?.name ?? agent?.name ?? "OpenClaw",
    assistantAvatar: shown(avatar) ?? shown(agent?.identity?.avatar) ?? agent?.identity?.emoji ?? null,
    assistantAgentId,
    version,
    program: runnable("openclaw dashboard").replace(/ dashboard$/, ""),
  });
}

/** Whom the Origin rule is asked for: the page, which always has one. */
const PAGE = { id: "openclaw-control-ui", mode: "webchat" } as const;

/** Trades a login code for a device's token. Only the gateway's own page may ask. */
async function answerLogin(
  { request, response, body }: Exchange,
  auth: Pick<HttpAuth, "checkOrigin" | "login">,
  runnable: (text: string) => string,
): Promise<void> {
  const refuse = (status: number, error: string, headers = {}): void => sendJson(response, status, { ok: false, error }, headers);
  const foreign = auth.checkOrigin(request, PAGE);
  if (foreign !== undefined) return refuse(403, foreign);
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) return refuse(415, "expected a body of content-type application/json");
  const parsed = parseJsonObject(body);
  if (!parsed.ok) return refuse(400, parsed.message);
  const verdict = await auth.login.redeem(request, { code: parsed.value["code"], device: parsed.value["device"] });
  if (verdict.ok) return sendJson(response, 200, verdict);
  const { retryAfterMs } = verdict;
  refuse(verdict.status, runnable(verdict.message), retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) });
}

/** The handlers behind the Control UI's routes. */
export interface Site {
  serve(exchange: Exchange): Promise<void>;
  settings(exchange: Exchange): void;
  login(exchange: Exchange): Promise<void>;
}

const WELCOME_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "x-frame-options": "DENY",
};

/** Named after its content by the build, so that it never changes. */
const HASHED = /^assets\/(?:.+\/)?[^/]+-[\w-]{8,}\.[a-z0-9]+$/;
const FOR_EVER = "public, max-age=31536000, immutable";

interface Opened {
  readonly handle: FileHandle;
  readonly encoding: Encoding;
}

/** The best form that is there and that the caller takes. */
async function openBest(folder: string, name: string, header: string | undefined): Promise<Opened | undefined> {
  for (const encoding of acceptedEncodings(header)) {
    const handle = await openBelow(folder, name + SUFFIX[encoding]);
    if (handle) return { handle, encoding };
  }
  return undefined;
}

/** Sends a file of the page. False when there is none of this name. */
async function sendFile({ request, response }: Pick<Exchange, "request" | "response">, folder: string, name: string): Promise<boolean> {
  const type = webFileType(name);
  const found = type === undefined ? undefined : await openBest(folder, name, request.headers["accept-encoding"]?.toString());
  if (type === undefined || !found) return false;
  const { encoding } = found;
  await using handle = found.handle;
  const { size, mtimeMs, ctimeMs } = await handle.stat();
  const etag = `"${[size, mtimeMs, ctimeMs].map((part) => Math.round(part).toString(36)).join("-")}${SUFFIX[encoding]}"`;
  const caching: OutgoingHttpHeaders = { "cache-control": HASHED.test(name) ? FOR_EVER : "no-cache", etag, vary: "Accept-Encoding" };
  if (isKnown(request.headers["if-none-match"], etag)) {
    response.writeHead(304, caching).end();
    return true;
  }
  const encoded = encoding === "identity" ? {} : { "content-encoding": encoding };
  response.writeHead(200, { ...fileHeaders(type), ...caching, ...encoded, "content-type": type, "content-length": size });
  if (request.method === "HEAD" || size === 0) response.end();
  // Read as it is taken: callers that do not read hold no file in memory. One that leaves is no failure.
  else await pipeline(handle.createReadStream({ autoClose: false, end: size - 1 }), response).catch(() => response.destroy());
  return true;
}

/** What the build leaves in the page for its real address. */
const PLACEHOLDER = /<base href="\.\/"\s*\/?>/;
/** A smaller page fits into the first packet anyway. */
const WORTH_PACKING = 1024;

function folderOf(config: Config["current"], bundled: string | undefined): string | undefined {
  const given = config.gateway?.controlUi?.root?.trim();
  return given ? resolve(given) : bundled;
}

/** The page with its address in it; nothing else of it is changed. */
function placed(html: string, base: string): string {
  const href = encodeURI(below(base, "")).replaceAll("&", "&amp;");
  return html.replace(PLACEHOLDER, () => `<base href="${href}">`);
}

async function packed(html: string, header: string | undefined): Promise<{ readonly body: Buffer; readonly encoding?: "br" | "gzip" }> {
  const body = Buffer.from(html, "utf8");
  const [encoding] = acceptedEncodings(header);
  if (body.length < WORTH_PACKING || encoding === undefined || encoding === "identity") return { body };
  const { brotliCompressSync, constants, gzipSync } = await import("node:zlib");
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5 };
  return { body: encoding === "br" ? brotliCompressSync(body, { params }) : gzipSync(body), encoding };
}

/**
 * Sends the page. False when none is built. Browsers must not keep it: neither for a version that is gone, nor as it stands, with what it shows, for the
 * back button. Its files hold nothing of anybody and may be kept.
 */
async function sendPage({ request, response }: Exchange, folder: string, base: string): Promise<boolean> {
  await using handle = await openBelow(folder, "index.html");
  if (!handle) return false;
  const { body, encoding } = await packed(placed(await handle.readFile("utf8"), base), request.headers["accept-encoding"]?.toString());
  response.writeHead(200, {
    ...pageHeaders(request.headers.host),
    "content-type": "text/html; charset=utf-8",
    "content-length": body.length,
    "cache-control": "no-store",
    vary: "Accept-Encoding",
    ...(encoding === undefined ? {} : { "content-encoding": encoding }),
  });
  response.end(request.method === "HEAD" ? undefined : body);
  return true;
}

/** True for names that only a file has: a missing one is a 404. Deeper paths are pages, whatever they end with: sessions are named in them. */
const isFileName = (rest: string): boolean => /^assets(?:\/|$)/.test(rest) || (!rest.includes("/") && webFileType(rest) !== undefined);

export function createSite({ auth, config, health, uiFolder, runnable = (text) => text }: ControlUiDeps): Site {
  const missing = ({ response, path }: Exchange): void => sendError(response, { status: 404, message: `not found: ${path}`, type: "not_found" });

  function welcome({ response }: Exchange): void {
    const off = config.current.gateway?.controlUi?.enabled === false;
    sendText(response, 200, "text/html", welcomePage(health(), off ? "off" : "not-built"), WELCOME_HEADERS);
  }

  function redirect({ response }: Exchange, to: string): void {
    response.writeHead(302, { location: encodeURI(to), "content-length": 0 }).end();
  }

  return {
    async serve(exchange) {
      const base = basePathOf(config.current);
      if (base === undefined) return exchange.path === "/" ? welcome(exchange) : missing(exchange);
      const root = below(base, "");
      if (exchange.path !== root && (exchange.path === "/" || exchange.path === base)) return redirect(exchange, root);
      const rest = restOf(base, exchange.path);
      const folder = folderOf(config.current, uiFolder);
      if (rest === undefined) return missing(exchange);
      if (folder !== undefined) {
        const isPage = rest === "" || rest === "index.html";
        if (!isPage && (await sendFile(exchange, folder, rest))) return;
        if ((isPage || !isFileName(rest)) && (await sendPage(exchange, folder, base))) return;
      }
      return rest === "" ? welcome(exchange) : missing(exchange);
    },
    settings: (exchange) => sendPageConfig(exchange, config.current, { version: health().version, runnable }),
    login: (exchange) => answerLogin(exchange, auth, runnable),
  };
}
