/** The tool in a sandboxed session: which browser it gets, with a real one where the sandbox's would be. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIds } from "../../src/base/ids.ts";
import { systemRandom } from "../../src/base/random.ts";
import { loadBrowserTool, loadToolBrowsers, type BrowserTarget } from "../../src/browser/index.ts";
import type { ToolContext } from "../../src/tools/index.ts";
import { browserPath, openLab, refIn, textOf, type Lab } from "./lab.ts";

interface Boxed extends AsyncDisposable {
  readonly cdpUrl: string;
}

/** A browser with a control port, as the container publishes it. */
async function openBoxed(): Promise<Boxed> {
  const profile = mkdtempSync(join(tmpdir(), "openclaw-boxed-"));
  const args = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--remote-debugging-port=0",
    "--host-resolver-rules=MAP *.test 127.0.0.1",
    `--user-data-dir=${profile}`,
  ];
  const child = spawn(browserPath(), [...args, "about:blank"], { stdio: ["ignore", "ignore", "pipe"], detached: true });
  let output = "";
  const port = await new Promise<string>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const [, found] = /DevTools listening on ws:\/\/127\.0\.0\.1:(\d+)/.exec(output) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`Chromium did not start:\n${output}`)));
  });
  return {
    cdpUrl: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      const gone = child.exitCode === null ? once(child, "exit") : undefined;
      process.kill(-child.pid!, "SIGKILL");
      await gone;
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

let lab: Lab;
let boxed: Boxed;
beforeAll(async () => {
  [lab, boxed] = await Promise.all([openLab(), openBoxed()]);
});
afterAll(async () => {
  await lab[Symbol.asyncDispose]();
  await boxed[Symbol.asyncDispose]();
});

async function agent({ sandboxed = true, inside = true, hostAllowed = false } = {}) {
  const [{ browserTool }, { browserHere, browserInSandbox }] = await Promise.all([loadBrowserTool(), loadToolBrowsers()]);
  const { browser, operations } = lab.opened;
  const chosen: BrowserTarget[] = [];
  const tool = browserTool({
    ids: createIds(systemRandom),
    sandbox: async () => ({ sandboxed, hostAllowed, inside }),
    async choose(target) {
      chosen.push(target);
      return target.target === "sandbox"
        ? browserInSandbox(browser, operations, { id: "agent-main-1", cdpUrl: boxed.cdpUrl })
        : browserHere(browser, operations);
    },
  });
  const context = { sessionKey: "agent:main:boxed", agentId: "main", runId: "run" } as ToolContext;
  let calls = 0;
  return {
    chosen,
    async call(params: Readonly<Record<string, unknown>>) {
      calls += 1;
      const outcome = await tool.run({ id: String(calls), params, signal: new AbortController().signal, update: () => undefined, context });
      return { isError: outcome.isError, text: textOf(outcome) };
    },
  };
}

test("a sandboxed session drives the browser of its sandbox, and names of other profiles do not lead out of it", async () => {
  const { call, chosen } = await agent();
  const page = await call({ action: "open", targetUrl: lab.at("/order"), profile: "openclaw" });
  expect(page).toMatchObject({ isError: false, text: expect.stringContaining("Send order") });
  const filled = await call({ action: "act", request: { kind: "fill", fields: [{ ref: refIn(page.text, '"Name"'), value: "Ada" }], submit: true } });
  expect(filled.text).toContain("Thank you");
  expect((await call({ action: "profiles" })).text).not.toContain("openclaw");
  expect((await call({ action: "status" })).text).toContain("sandbox:agent-main-1");
  expect(new Set(chosen.map(({ target }) => target))).toEqual(new Set(["sandbox"]));
  // Nobody else sees it among the profiles, or reaches it by its name.
  expect(lab.opened.browser.profiles().map(({ name }) => name)).not.toContain("sandbox:agent-main-1");
  expect(await (await agent({ sandboxed: false })).call({ action: "tabs", profile: "sandbox:agent-main-1" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("is not a profile name"),
  });
});

test("addresses inside are refused there as well", async () => {
  const { call } = await agent();
  expect(await call({ action: "open", targetUrl: lab.at("/boxed-secret", "inside.test") })).toMatchObject({
    isError: true,
    text: expect.stringContaining("browser.ssrfPolicy"),
  });
  await call({ action: "open", targetUrl: lab.at(`/write?html=${encodeURIComponent(`<img src="${lab.at("/boxed-secret", "inside.test")}">`)}`) });
  expect(lab.site.seen.filter((path) => path.includes("boxed-secret"))).toEqual([]);
});

test.each([
  ["the host", { target: "host" }],
  ["a node", { target: "node" }],
  ["a node by its name", { node: "mac" }],
  ["tabs of the user", { profile: "chrome" }],
])("%s is out of reach unless the owner allows it", async (_what, params) => {
  expect(await (await agent()).call({ action: "status", ...params })).toMatchObject({ isError: true, text: expect.stringContaining("allowHostControl") });
  const allowed = await agent({ hostAllowed: true });
  await allowed.call({ action: "status", ...params });
  expect(allowed.chosen[0]?.target).not.toBe("sandbox");
});

test("a node does not share the tabs of its own user", async () => {
  const ask = (request: object) => lab.lazy.proxy({ method: "GET", path: "/tabs", ...request }, new AbortController().signal, () => ({}));
  for (const request of [{ profile: "chrome" }, { query: { profile: "chrome" } }])
    await expect(ask(request)).rejects.toThrow("a node does not share tabs of its user's own Chrome");
});

test("without a browser inside, and without a sandbox, the answer says what is missing", async () => {
  expect(await (await agent({ inside: false })).call({ action: "tabs" })).toMatchObject({ isError: true, text: expect.stringContaining("allowHostControl") });
  expect(await (await agent({ sandboxed: false })).call({ action: "tabs", target: "sandbox" })).toMatchObject({
    isError: true,
    text: expect.stringContaining("this session is not sandboxed"),
  });
});
