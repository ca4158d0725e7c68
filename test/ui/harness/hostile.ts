/** Text that would like to be code, put wherever text comes in. */
import { once } from "node:events";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Page } from "playwright-core";
import type { Place } from "../../harness/gateway-process.ts";
import type { PageElement, PageRoot, PageWindow } from "../../harness/in-page.ts";
import { openTestStore } from "../../harness/program.ts";
import { line, said, seedSession } from "../../harness/seeded-session.ts";

/** One piece per entry. */
export const CORPUS: readonly string[] = readFileSync(new URL("../../fixtures/xss.txt", import.meta.url), "utf8").split("\n%%\n");

/** As many as a transcript shows without being scrolled. */
const PER_SESSION = 20;

/** Sessions whose transcripts hold the corpus, as it was said and as it was answered. */
export const HOSTILE_SESSIONS: readonly string[] = Array.from({ length: Math.ceil(CORPUS.length / PER_SESSION) }, (_, at) => `agent:main:web:hostile-${at}`);

const answered = (text: string) => ({ message: { role: "assistant", content: [{ type: "text", text }], stopReason: "stop" } });

async function seed(place: Place): Promise<void> {
  await using store = await openTestStore(place.stateDir);
  for (const [at, key] of HOSTILE_SESSIONS.entries()) {
    const texts = CORPUS.slice(at * PER_SESSION, (at + 1) * PER_SESSION);
    const fields = texts.flatMap((text) => [said(text), answered(text)]);
    const entries = fields.map((field, n) => line(`${n}`, n === 0 ? null : `${n - 1}`, field, n));
    await seedSession(store, entries, key, `hostile-${at}`);
  }
  for (const [at, label] of CORPUS.entries()) {
    const entry = { sessionId: `label-${at}`, updatedAt: Date.now(), label, displayName: label, subject: label };
    await store.commit([["sessions.put", { key: `agent:main:web:label-${at}`, agentId: "main", entry, version: 0 }]]);
  }
}

/** A plugin that is nothing but its labels. */
function writePlugin(folder: string): void {
  mkdirSync(folder, { recursive: true });
  const text = CORPUS.slice(0, 12).join(" ");
  const configSchema = { type: "object", properties: { "<img src=x onerror=window.__pwned=1>": { type: "string", title: text, description: text } } };
  const uiHints = { "<img src=x onerror=window.__pwned=1>": { label: text, help: text, placeholder: text } };
  writeFileSync(
    join(folder, "openclaw.plugin.json"),
    JSON.stringify({ id: "hostile-labels", name: text, description: text, version: '1.0.0"><script>window.__pwned=1</script>', configSchema, uiHints }),
  );
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "hostile-labels", version: "1.0.0", openclaw: { extensions: ["./index.js"] } }));
  const command = { name: "hostile", description: text };
  writeFileSync(
    join(folder, "index.js"),
    `module.exports = { id: "hostile-labels", register(api) { api.registerCommand({ ...${JSON.stringify(command)}, handler: () => ({ text: ${JSON.stringify(text)} }) }); throw new Error(${JSON.stringify(text)}); } };`,
  );
}

/** Fills a place before its gateway starts. */
export async function makeHostile(place: Place, workspace: string): Promise<void> {
  mkdirSync(place.stateDir, { recursive: true, mode: 0o700 });
  await seed(place);
  writePlugin(join(place.home, "hostile-labels"));
  writeFileSync(join(workspace, "corpus.txt"), CORPUS.join("\n"));
  mkdirSync(join(workspace, "memory"), { recursive: true });
  writeFileSync(join(workspace, "MEMORY.md"), CORPUS.slice(0, 40).join("\n\n"));
  writeFileSync(join(workspace, "memory", "<img src=x onerror=window.__pwned=1>.md"), CORPUS.slice(40).join("\n\n"));
}

/** The corpus in the gateway's own log, as lines of it. */
export function logHostile(place: Place): void {
  const now = new Date().toISOString();
  const file = join(place.stateDir, "logs", `openclaw-${now.slice(0, 10)}.log`);
  appendFileSync(file, CORPUS.map((text) => `${JSON.stringify({ time: now, level: "error", subsystem: text, message: text })}\n`).join(""));
}

/** A Bot API that refuses everything, in hostile words unless others are given. */
export async function openRefusingApi(description = CORPUS.slice(0, 12).join(" ")): Promise<AsyncDisposable & { readonly root: string }> {
  const server = createServer((_, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ ok: false, error_code: 401, description }));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    root: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Elements and attributes anywhere in the page, shadow trees included, that could run, load or lead somewhere they should not. None is good. */
export function findLive(page: Page): Promise<readonly string[]> {
  return page.evaluate(() => {
    const { document, location } = globalThis as unknown as PageWindow;
    const found: string[] = [];
    if ("__pwned" in globalThis) found.push("a script ran");
    const safe = (element: PageElement, name: string, value: string): boolean => {
      const url = URL.parse(value, document.baseURI);
      if (!url || url.origin === location.origin) return true;
      if (/^(?:https?|mailto|tel):$/.test(url.protocol)) return element.localName === "a" && name === "href";
      return /^data:image\/(?!svg)|^blob:/.test(url.href) && element.localName === "img";
    };
    const look = (root: PageRoot, host = ""): void => {
      // Formulas are built by the page from a list of elements, in an element of their own.
      const formula = /^(?:math|m(?:row|i|n|o|s|text|space|frac|sqrt|root|sub|sup|subsup|under|over|underover|table|tr|td|padded|phantom|style))$/;
      const isFormula = host === "oc-math" && [...root.querySelectorAll("math, math *")].every(({ localName }) => formula.test(localName));
      for (const element of root.querySelectorAll("*")) {
        const isOfPage = (element.closest("head") !== null && element.closest("svg") === null) || (isFormula && element.localName === "math");
        if (/^(?:script|iframe|object|embed|base|meta|link|style|template|math)$/.test(element.localName) && !isOfPage)
          found.push(element.outerHTML.slice(0, 200));
        for (const { name, value } of element.attributes) {
          if (name.startsWith("on")) found.push(`${element.localName} ${name}=${value}`);
          if (/^(?:href|xlink:href|src|srcset|action|formaction|data|srcdoc|poster|background|ping)$/.test(name) && !safe(element, name, value))
            found.push(`${element.localName} ${name}=${value}`);
        }
        if (element.shadowRoot) look(element.shadowRoot, element.localName);
      }
    };
    look(document);
    return found;
  });
}
