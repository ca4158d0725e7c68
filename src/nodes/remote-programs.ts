import type { Ids } from "../base/ids.ts";
import type { Logger } from "../base/log/logger.ts";
import { messageOf } from "../base/errors.ts";
import { isRecord } from "../base/records.ts";
import type { InvokeRequest, InvokeResult } from "./invokes.ts";
import type { NodeEntry } from "./registry.ts";

/** Programs that connected nodes have, for skills that need them. */
export interface RemotePrograms {
  /** Systems of nodes whose skills can be used there. */
  readonly platforms: readonly string[];
  readonly programs: ReadonlySet<string>;
  /** A line for the prompt that says where they are. */
  readonly note?: string;
}

export interface RemoteProgramsDeps {
  readonly ids: Pick<Ids, "uuid">;
  readonly log: Logger;
  readonly list: () => Promise<readonly NodeEntry[]>;
  readonly invoke: (request: InvokeRequest) => Promise<InvokeResult>;
}

const ASK_MS = 3000;
const MOST_NODES = 20;
/** Enough to name a node with, and nothing that a node chose itself. */
const ID_CHARS = 12;

const runsCommands = ({ connected, commands }: NodeEntry): boolean => connected && commands.includes("system.run") && commands.includes("system.which");
const isMac = ({ platform }: NodeEntry): boolean => /^(?:mac|darwin|osx)/i.test(platform ?? "");

function noteOf(found: readonly (readonly [NodeEntry, readonly string[]])[]): string | undefined {
  const lines = found.filter(([, names]) => names.length > 0).map(([{ nodeId }, names]) => `node ${nodeId.slice(0, ID_CHARS)}: ${names.join(", ")}`);
  if (lines.length === 0) return undefined;
  return `Some programs are on paired nodes instead of this machine (${lines.join("; ")}). Run them there: exec with host=node and this node, or the nodes tool.`;
}

/** Asks nodes with `system.which`, once per connection and program. A node that does not answer has none. */
export function createRemotePrograms({ ids, log, list, invoke }: RemoteProgramsDeps): (names: readonly string[]) => Promise<RemotePrograms | undefined> {
  let known = new Map<string, Map<string, boolean>>();

  async function programsOf(node: NodeEntry, names: readonly string[], answers: Map<string, boolean>): Promise<readonly string[]> {
    const { nodeId } = node;
    const unknown = names.filter((name) => !answers.has(name));
    if (unknown.length > 0) {
      try {
        const request = { nodeId, command: "system.which", params: { bins: unknown }, timeoutMs: ASK_MS, idempotencyKey: `skills:${ids.uuid()}` };
        const { payload } = await invoke(request);
        const bins = isRecord(payload) && isRecord(payload["bins"]) ? payload["bins"] : {};
        for (const name of unknown) answers.set(name, Object.hasOwn(bins, name) && typeof bins[name] === "string");
      } catch (error) {
        log.warn(`the node ${nodeId.slice(0, ID_CHARS)} was not asked for programs of skills: ${messageOf(error)}`);
        for (const name of unknown) answers.set(name, false);
      }
    }
    return names.filter((name) => answers.get(name) === true);
  }

  return async (names) => {
    const nodes = (await list()).filter(runsCommands).slice(0, MOST_NODES);
    const connectionOf = ({ nodeId, connectedAtMs }: NodeEntry): string => `${nodeId}:${connectedAtMs}`;
    known = new Map(nodes.map((node) => [connectionOf(node), known.get(connectionOf(node)) ?? new Map<string, boolean>()]));
    if (nodes.length === 0) return undefined;
    const found = await Promise.all(
      nodes.map(async (node) => [node, await programsOf(node, names, known.get(connectionOf(node)) ?? new Map<string, boolean>())] as const),
    );
    const note = noteOf(found);
    return {
      platforms: nodes.some(isMac) ? ["darwin"] : [],
      programs: new Set(found.flatMap(([, programs]) => programs)),
      ...(note === undefined ? {} : { note }),
    };
  };
}
