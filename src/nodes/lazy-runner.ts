import { lazy } from "../base/lazy.ts";
import type { NodeRunner } from "../tools/index.ts";
import type { Nodes } from "./create-nodes.ts";

/** Runs the commands of agents on nodes; loaded with the first of them. */
export function createLazyNodeRunner(nodes: Pick<Nodes, "list" | "invoke">): NodeRunner {
  const open = lazy(async () => (await import("./runner.ts")).createNodeRunner(nodes));
  return { find: async (...args) => (await open()).find(...args), run: async (...args) => (await open()).run(...args) };
}
