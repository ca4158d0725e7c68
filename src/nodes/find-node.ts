import { AppError } from "../base/errors.ts";
import type { NodeEntry } from "./registry.ts";

const LEAST_PREFIX = 6;
const MOST_NAMED = 10;

const normalized = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "");

/** How people know a node. */
export const nodeName = ({ displayName, nodeId }: Pick<NodeEntry, "displayName" | "nodeId">): string => displayName ?? nodeId.slice(0, 12);

const named = (nodes: readonly NodeEntry[]): string =>
  nodes
    .slice(0, MOST_NAMED)
    .map((node) => `${nodeName(node)} (${node.nodeId.slice(0, 12)})`)
    .join(", ") || "none";

/**
 * The node that a text means: its id, its address, its name, or the beginning of its id. Throws when none or several fit, connected or not: nodes choose
 * their names themselves, and one must not get the commands of another that is away.
 */
export function findNode(wanted: string, nodes: readonly NodeEntry[]): NodeEntry {
  const text = wanted.trim();
  const name = normalized(text);
  const ways: readonly ((node: NodeEntry) => boolean)[] = [
    ({ nodeId }) => nodeId === text,
    ({ remoteIp }) => remoteIp !== undefined && remoteIp === text,
    ({ displayName }) => name !== "" && displayName !== undefined && normalized(displayName) === name,
    ({ nodeId }) => text.length >= LEAST_PREFIX && nodeId.startsWith(text.toLowerCase()),
  ];
  for (const fits of ways) {
    const found = nodes.filter(fits);
    const [one] = found;
    if (one && found.length === 1) return one;
    if (found.length > 1) throw new AppError("CONFLICT", `${JSON.stringify(text)} fits several nodes: ${named(found)}; use an id`);
  }
  throw new AppError("NOT_FOUND", `unknown node ${JSON.stringify(text.slice(0, 100))}; known nodes: ${named(nodes)}`);
}
