import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ask } from "../security/start.ts";
import { makePlace, type GatewayProcess, type Place } from "../harness/gateway-process.ts";

const TOKEN = "a-token-of-this-test-0123456789";

interface Bad {
  /** Files by name; `index.ts` alone as a text. */
  readonly files: string | Readonly<Record<string, string>>;
  /** The manifest, where it is not a plain one; `null`: none. */
  readonly manifest?: string | null;
  /** What is said of it. */
  readonly says: RegExp;
  readonly file?: string;
  readonly line?: number;
  /** Its state in the list; `error` where nothing else is said. */
  readonly status?: "loaded" | "error" | "disabled";
}

const service = (start: string): string => `export default (api: any) => api.registerService({ id: "s",\n  start() {\n    ${start}\n  } });`;

/** Everything on the list of what plugins do wrong, one plugin each, with the line where it goes wrong. */
const BAD: Readonly<Record<string, Bad>> = {
  "no-manifest": { files: "export default () => {}", manifest: null, says: /plugin manifest not found/, file: "openclaw.plugin.json" },
  "bad-manifest": {
    files: "export default () => {}",
    manifest: `{\n  "id": "bad-manifest",\n  "configSchema": ,\n}`,
    says: /.+/,
    file: "openclaw.plugin.json",
    line: 3,
  },
  "no-schema": {
    files: "export default () => {}",
    manifest: `{\n  "id": "no-schema"\n}`,
    says: /"configSchema": expected a JSON Schema object/,
    file: "openclaw.plugin.json",
  },
  "syntax-error": { files: "export default () => {\n\n  const = 3;\n};", says: /load failed/, line: 3 },
  "type-error": { files: "export const x = <T,>(v: T) => v;\nexport default () => {};\nenum {", says: /load failed/, line: 3 },
  "cyclic-import": {
    files: {
      "index.ts": `import { b } from "./b.js";\nexport const a = b;\nexport default () => {};`,
      "b.ts": `import { a } from "./index.js";\n\nexport const b = a + 1;`,
    },
    says: /before initialization/,
    file: "b.ts",
    line: 3,
  },
  "missing-import": { files: `import "./not-there.js";\nexport default () => {};`, says: /not-there/, line: 1 },
  "throws-at-import": { files: `export default () => {};\n\nthrow new Error("at import");`, says: /load failed: .*at import/, line: 3 },
  "throws-a-text": { files: `throw "only a text"; export default () => {};`, says: /only a text/ },
  "throws-at-register": {
    files: {
      "index.ts": `import { fail } from "./deep.js";\nexport default () => fail();`,
      "deep.ts": `export function fail(): never {\n  throw new Error("at register");\n}`,
    },
    says: /^register failed: at register/,
    file: "deep.ts",
    line: 2,
  },
  "throws-at-activate": {
    files: `export default { register() {},\n  async activate() { throw new Error("at activate"); } };`,
    says: /^activate failed: at activate/,
    line: 2,
  },
  "throws-in-handler": {
    files: `export default (api: any) => api.on("gateway_start", () => {\n  throw new Error("in a handler"); });`,
    says: /its gateway_start handler failed: in a handler/,
    line: 2,
    status: "loaded",
  },
  "throws-in-service": {
    files: service(`throw new Error("in a service");`),
    says: /the service s could not be started: in a service/,
    line: 3,
    status: "loaded",
  },
  "throws-in-timer": {
    files: service(`setTimeout(() => { throw new Error("in a timer"); }, 1);`),
    says: /an uncaught exception: in a timer/,
    line: 3,
    status: "loaded",
  },
  "rejects-in-timer": {
    files: service(`setTimeout(async () => { await null; throw new Error("in an async timer"); }, 1);`),
    says: /an unhandled promise rejection: in an async timer/,
    line: 3,
    status: "loaded",
  },
  "exports-nothing": { files: "export const x = 1;", says: /register\/activate/ },
  "wrong-arguments": {
    files: `export default (api: any) => { api.registerTool("x"); }`,
    says: /api\.registerTool: tool must be an object, but is "x"/,
    status: "loaded",
  },
  "unknown-hook": { files: `export default (api: any) => { api.on("no_such_hook", () => {}); }`, says: /no_such_hook/, status: "loaded" },
  "unknown-sdk": {
    files: `import { nothingLikeThis } from "openclaw/plugin-sdk";\nimport "openclaw/plugin-sdk/no-such-path";\nexport default () => nothingLikeThis;`,
    says: /openclaw\/plugin-sdk: nothingLikeThis; openclaw\/plugin-sdk\/no-such-path \(no such sub-path\)/,
    line: 1,
  },
  flood: {
    files: `export default (api: any) => { for (let i = 0; i < 10_000; i++) api.on("message_sent", () => {}); };`,
    says: /more than 500 of kind "hook" were registered/,
    status: "loaded",
  },
  "route-traversal": {
    files: `export default (api: any) => { for (const path of ["/a/../b", "/../etc/passwd", "/%2e%2e/x", "//evil", "/x\\\\y", "/x?y", "/v1/models", "/", "/plugin/./x", "/x\\u0000"]) api.registerHttpRoute({ path, auth: "plugin", handler(_: any, res: any) { res.end("mine"); } }); };`,
    says: /route\.path must be an absolute path without dots/,
    status: "loaded",
  },
};

/** Ids that would be paths. */
const TRAVERSING = ["../evil", "a/../../b", "/etc/passwd", "..", "a\\..\\b", "a/b/c", "C:evil", "e\u0000vil", "~/x", "constructor/../x", " "];

function install(place: Place, folder: string, { files, manifest }: Bad, id: string): void {
  const root = join(place.stateDir, "extensions", folder);
  for (const [name, text] of Object.entries(typeof files === "string" ? { "index.ts": files } : files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  if (manifest !== null) writeFileSync(join(root, "openclaw.plugin.json"), manifest ?? JSON.stringify({ id, configSchema: {} }));
}

const WITNESS = `
export default function register(api: any) {
  const starts: unknown[] = [];
  // What handlers with a higher priority did to their event is not seen here.
  api.on("gateway_start", (event: any, ctx: any) => { starts.push({ port: event.port, context: ctx.port }); }, { priority: -10 });
  api.registerGatewayMethod("witness.starts", ({ respond }: any) => respond(true, starts), { scope: "operator.read" });
}`;
const MUTATES = `
export default function register(api: any) {
  api.on("gateway_start", (event: any, ctx: any) => { event.port = -1; ctx.port = -2; delete event.port; Object.setPrototypeOf(event, null); }, { priority: 100 });
  api.on("gateway_start", () => ({ port: -3, block: "garbage", then: 5 }), { priority: 50 });
}`;

let place: Place;
let gateway: GatewayProcess;
let url: string;

interface Listed {
  readonly plugins: readonly { readonly id: string; readonly status: string; readonly source: string }[];
  readonly diagnostics: readonly { readonly pluginId?: string; readonly message: string; readonly source?: string; readonly line?: number }[];
}

function call(method: string): unknown {
  const { code, stdout, stderr } = place.cli("call", method, "--json");
  if (code !== 0) throw new Error(stderr + stdout);
  return JSON.parse(stdout);
}

const list = (): Listed => call("plugins.list") as Listed;

beforeAll(async () => {
  place = makePlace();
  place.env["OPENCLAW_BUNDLED_PLUGINS_DIR"] = join(place.home, "none");
  place.configure(`{ gateway: { mode: "local", auth: { token: "${TOKEN}" } } }`);
  for (const [id, bad] of Object.entries(BAD)) install(place, id, bad, id);
  install(place, "witness", { files: WITNESS, says: /./ }, "witness");
  install(place, "mutates", { files: MUTATES, says: /./ }, "mutates");
  install(place, "witness-2", { files: `throw new Error("the second is not loaded"); export default () => {};`, says: /./ }, "witness");
  TRAVERSING.forEach((id, number) => install(place, `traversing-${number}`, { files: `throw new Error("must not run")`, says: /./ }, id));
  symlinkSync(place.home, join(place.stateDir, "extensions", "linked-home"));
  gateway = await place.gateway();
  for (const text of ["in a timer", "in an async timer", "in a service", "in a handler"]) await gateway.waitFor(text);
  await gateway.waitFor(/ready on \S+/);
  url = /ready on (\S+)/.exec(gateway.output())![1]!;
}, 30_000);
afterAll(() => gateway[Symbol.asyncDispose]());

describe("a plugin that is wrong in one way is reported with its name, its file and the line, and the gateway serves", () => {
  test.each(Object.entries(BAD))("%s", (id, { says, file = "index.ts", line, status = "error" }) => {
    const { plugins, diagnostics } = list();
    expect(plugins.find((plugin) => plugin.id === id)?.status).toBe(status);
    const reported = diagnostics.find((found) => found.pluginId === id && says.test(found.message));
    expect({ reported, all: diagnostics.filter((found) => found.pluginId === id) }).toMatchObject({
      reported: { source: join(place.stateDir, "extensions", id, file), ...(line === undefined ? {} : { line }) },
    });
  });

  test("all at once, it is well and answers", async () => {
    expect((await ask(url, "/readyz")).status).toBe(200);
    expect(place.cli("health").code).toBe(0);
    expect(gateway.output()).not.toContain("must not run");
  });
});

test("of two folders with one id the first is used, and both are named", () => {
  const { plugins, diagnostics } = list();
  expect(plugins.filter(({ id }) => id === "witness").map(({ status }) => status)).toEqual(["loaded", "disabled"]);
  const reported = diagnostics.find(({ message }) => message.startsWith('duplicate plugin id "witness"'));
  expect(reported?.message).toMatch(/extensions\/witness\/index\.ts \(global\) is used, .*extensions\/witness-2\/index\.ts \(global\) is not/);
});

test("a handler that changes its event, its context or returns garbage changes nothing for others", () => {
  const port = Number(new URL(url).port);
  expect(call("witness.starts")).toEqual([{ port, context: port }]);
});

test("an id that is a path is refused, with its place; its code is never run", () => {
  const { plugins, diagnostics } = list();
  for (const [number] of TRAVERSING.entries()) {
    const folder = join(place.stateDir, "extensions", `traversing-${number}`);
    expect(plugins.find(({ source }) => source.startsWith(`${folder}/`))?.status).toBe("error");
    expect(diagnostics.find(({ source }) => source === join(folder, "openclaw.plugin.json"))).toMatchObject({
      message: expect.stringContaining('"id": expected'),
      line: 1,
    });
  }
});

test("routes that are paths out of the plugin's own, or the gateway's, are not there", async () => {
  for (const path of ["/b", "/etc/passwd", "/x", "/evil", "/x/y", "/plugin/x"]) expect([path, (await ask(url, path)).body === "mine"]).toEqual([path, false]);
  expect((await ask(url, "/v1/models")).status).not.toBe(200);
  expect((await ask(url, "/")).body).not.toBe("mine");
});
