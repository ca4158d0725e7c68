import { expect, test } from "vitest";
import type { OpenClawConfig } from "../config/index.ts";
import { browserNode, type BrowserWanted } from "./browser-nodes.ts";
import type { InvokeRequest } from "./invokes.ts";
import type { NodeEntry } from "./registry.ts";

const entry = (nodeId: string, displayName: string, over: Partial<NodeEntry> = {}): NodeEntry => ({
  nodeId,
  displayName,
  caps: [],
  commands: ["browser.proxy"],
  paired: true,
  connected: true,
  ...over,
});

function chosen(all: readonly NodeEntry[], node: string, wanted: Partial<BrowserWanted> = {}, asked: InvokeRequest[] = []) {
  const current: OpenClawConfig = { gateway: { nodes: { browser: { node } } } };
  const nodes = {
    wereSeen: true,
    list: async () => all,
    invoke: async (request: InvokeRequest) => (asked.push(request), { ok: true, nodeId: request.nodeId, command: request.command, payload: {} }),
  };
  return browserNode({ owner: true, ...wanted }, { nodes, config: { current }, ids: { uuid: () => "u" } });
}

const OFFICE = entry("aaaaaaaaaaaa", "Office");
const OTHER = entry("bbbbbbbbbbbb", "Attic");
const AWAY = { connected: false, commands: [] };

test("a preferred node that is away leaves the browser of this machine, also while another node shares its own", async () => {
  expect((await chosen([OFFICE, OTHER], "Office"))?.nodeId).toBe(OFFICE.nodeId);
  expect(await chosen([OTHER, { ...OFFICE, ...AWAY }], "Office")).toBeUndefined();
  expect(await chosen([OTHER], "Office")).toBeUndefined();
  await expect(chosen([OTHER], "Office", { target: "node" })).rejects.toThrow('unknown node "Office"');
});

test("a node that takes the name of the preferred one while that is away gets none of its requests", async () => {
  const namesake = entry("cccccccccccc", "office");
  await expect(chosen([namesake, { ...OFFICE, ...AWAY }], "Office")).rejects.toThrow("fits several nodes");
});

test("a node is waited for as long as anything in a tab may take, whatever time is asked for", async () => {
  const asked: InvokeRequest[] = [];
  const node = await chosen([OFFICE], "Office", {}, asked);
  for (const timeoutMs of [undefined, -5, 1e12]) await node!.send({ timeoutMs }, new AbortController().signal);
  expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([45_000, 15_001, 315_000]);
});

test("turns of others than the owner stay with the browser of this machine", async () => {
  expect(await chosen([OFFICE], "Office", { owner: false })).toBeUndefined();
  for (const wanted of [{ target: "node" }, { node: "Office" }] as const)
    await expect(chosen([OFFICE], "Office", { owner: false, ...wanted })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});
