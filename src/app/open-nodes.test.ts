import { expect, test } from "vitest";
import type { BrowserRequest, LazyBrowser } from "../browser/index.ts";
import type { Nodes } from "../nodes/index.ts";
import { browserRequests } from "./open-nodes.ts";

const NODE = { nodeId: "aaaaaaaaaaaa", caps: [], commands: ["browser.proxy"], paired: true, connected: true };

function open(result: unknown, evaluateEnabled = true) {
  const [here, there]: [string[], string[]] = [[], []];
  const browser = { request: async ({ path }: BrowserRequest) => (here.push(path), {}) } as unknown as LazyBrowser;
  const nodes = {
    wereSeen: true,
    list: async () => [NODE],
    invoke: async ({ params }: { readonly params?: unknown }) => (
      there.push((params as BrowserRequest).path),
      { ok: true, nodeId: NODE.nodeId, payload: { result } }
    ),
  } as unknown as Nodes;
  const config = { current: { browser: { evaluateEnabled } }, paths: { state: "/nowhere" } } as never;
  const request = browserRequests({ browser, nodes, config, ids: { uuid: () => "u" } as never });
  const ask = (path: string, body: object = {}) =>
    request({ method: "POST", path, query: {}, body, signal: new AbortController().signal, caller: "client:x", mayConfigure: true });
  return { ask, here, there };
}

test("what changes profiles stays on this machine, also while a node shares its browser", async () => {
  const { ask, here, there } = open({ ok: true });
  for (const path of ["/reset-profile", "reset-profile", "/profiles/create", "/start"]) await ask(path);
  expect([here, there]).toEqual([["/reset-profile", "reset-profile", "/profiles/create"], ["/start"]]);
});

test("scripts for the browser of a node are refused where this gateway turns them off", async () => {
  const { ask, there } = open({ ok: true }, false);
  await expect(ask("/act", { kind: "evaluate", fn: "1" })).rejects.toThrow("browser.evaluateEnabled");
  expect(there).toEqual([]);
});

test("a path that a node names without the file is not passed on as one of this machine", async () => {
  const { ask } = open({ ok: true, path: "/etc/passwd" });
  await expect(ask("/screenshot")).rejects.toThrow("did not send its browser's file");
});
