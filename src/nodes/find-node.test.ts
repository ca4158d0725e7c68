import { expect, test } from "vitest";
import { findNode } from "./find-node.ts";
import type { NodeEntry } from "./registry.ts";

const node = (nodeId: string, displayName: string, connected: boolean): NodeEntry => ({ nodeId, displayName, connected, paired: true, caps: [], commands: [] });

test("a name that two nodes have means neither, also while only one of them is connected", () => {
  const nodes = [node("aaaaaa111111", "Office PC", false), node("bbbbbb222222", "office-pc", true)];
  expect(() => findNode("Office PC", nodes)).toThrow(/fits several nodes: Office PC \(aaaaaa111111\), office-pc \(bbbbbb222222\); use an id/);
  expect(findNode("aaaaaa111111", nodes).connected).toBe(false);
  expect(findNode("bbbbbb", nodes).connected).toBe(true);
  expect(() => findNode("garage", nodes)).toThrow(/unknown node "garage"/);
});
