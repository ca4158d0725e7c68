import { expect, test } from "vitest";
import { offeredWays, type InstallHost } from "./plan.ts";

const LINUX: InstallHost = { platform: "linux", preferBrew: true, nodeManager: "npm", installers: new Set(["npm", "uv"]), isRoot: false };
const MAC: InstallHost = { ...LINUX, platform: "darwin", installers: new Set(["npm", "uv", "brew"]) };
const brew = { id: "b", kind: "brew", formula: "jq", bins: ["jq"] };
const node = { kind: "node", package: "jq-cli" };
const uv = { kind: "uv", package: "pyjq", label: "Install with uv" };
const download = { kind: "download", url: "https://example.com/jq" };
const ids = (written: readonly unknown[], host = LINUX): string[] => offeredWays(written, host).map(({ id }) => id);

test("offers the one way that suits the machine best", () => {
  expect(ids([brew, node])).toEqual(["node-1"]);
  expect(ids([brew, node], MAC)).toEqual(["b"]);
  expect(ids([brew, node], { ...MAC, preferBrew: false })).toEqual(["node-1"]);
  expect(ids([download, node, uv])).toEqual(["uv-2"]);
  expect(ids([brew])).toEqual(["b"]);
});

test("ranks a way whose installer is neither installed nor installable after one that works", () => {
  expect(ids([uv, node], { ...LINUX, installers: new Set(["npm"]) })).toEqual(["node-1"]);
  expect(ids([uv, node], { ...LINUX, installers: new Set() })).toEqual(["uv-0"]);
});

test("offers all downloads when there is nothing else", () => {
  expect(ids([download, download])).toEqual(["download-0", "download-1"]);
});

test("skips other platforms and invalid entries", () => {
  expect(ids([{ ...node, os: ["win32"] }, uv])).toEqual(["uv-1"]);
  expect(ids([null, 5, {}, { kind: "curl" }, []])).toEqual([]);
});

test("uses the skill's label, else one that names the package", () => {
  expect(offeredWays([uv], LINUX)).toMatchObject([{ id: "uv-0", kind: "uv", label: "Install with uv", bins: [] }]);
  expect(offeredWays([brew], MAC)[0]?.label).toBe("Install jq (brew)");
});
