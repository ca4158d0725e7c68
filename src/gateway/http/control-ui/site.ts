import { resolve } from "node:path";
import type { Config } from "../../../config/index.ts";
import { welcomePage } from "../../welcome-page.ts";
import { sendError, sendText } from "../reply.ts";
import type { Exchange } from "../route.ts";
import { basePathOf, below, restOf } from "./base-path.ts";
import { openBelow, sendFile, typeOf } from "./files.ts";
import { answerLogin } from "./login.ts";
import { acceptedEncodings } from "./negotiation.ts";
import { sendPageConfig } from "./page-config.ts";
import { pageHeaders } from "./policy.ts";
import type { ControlUiDeps } from "./routes.ts";

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

/** True for names that only a file has: what is missing there is told so. Deeper paths are pages, whatever they end with: sessions are named in them. */
const isFileName = (rest: string): boolean => /^assets(?:\/|$)/.test(rest) || (!rest.includes("/") && typeOf(rest) !== undefined);

export function createSite({ auth, config, health, uiFolder, runnable = (text) => text }: ControlUiDeps): Site {
  const missing = ({ response, path }: Exchange): void => sendError(response, { status: 404, message: `nothing at ${path}`, type: "not_found" });

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
