import { createSignal, type Signal } from "../../base/signal.ts";
import type { PageContext } from "../context.ts";
import { nodeName, nodeRequests, type NodeLine, type NodeRequest } from "../../pages/nodes/node-facts.ts";
import { commandEntries } from "./commands.ts";
import type { Entry } from "./entries.ts";
import { nodeActions, nodeEntries, nodeRequestEntries } from "./node-entries.ts";
import {
  actionsOfRow,
  agentActions,
  agentEntry,
  agentName,
  attentionEntries,
  chatEntry,
  jobActions,
  jobEntry,
  memoryEntry,
  nameOf,
  pageEntries,
  promptEntries,
  settingEntries,
  type Agent,
  type Hints,
  type Job,
  type SavedPrompt,
} from "./sources.ts";
import { createSessionSearch, NO_SESSIONS, type KnownSessions } from "./session-search.ts";
import { loadThings, NO_THINGS, thingEntries, type Things } from "./thing-entries.ts";

interface Known extends KnownSessions {
  readonly jobs: readonly Job[];
  readonly agents: readonly Agent[];
  readonly prompts: readonly SavedPrompt[];
  readonly defaultAgent: string;
  readonly mainKey: string;
  readonly hints: Hints | undefined;
  readonly requests: { readonly senders: number; readonly devices: number };
  readonly nodes: readonly NodeLine[];
  readonly nodeRequests: readonly NodeRequest[];
  readonly things: Things;
}

/** What the page is about, such as the chat that is open. */
export interface Scope {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** What the gateway has for the palette. It is asked when the palette opens; sessions again for each search. */
export interface Catalog {
  readonly known: Signal<Known>;
  load(): Promise<void>;
  find(words: string): Promise<void>;
  /** What the page at this moment is about. */
  scope(): Scope | undefined;
  entries(words: string): readonly Entry[];
}

const NOTHING: Known = {
  ...NO_SESSIONS,
  jobs: [],
  agents: [],
  prompts: [],
  defaultAgent: "main",
  mainKey: "main",
  hints: undefined,
  requests: { senders: 0, devices: 0 },
  nodes: [],
  nodeRequests: [],
  things: NO_THINGS,
};

export function createCatalog(context: PageContext): Catalog {
  const { link, router } = context;
  const known = createSignal<Known>(NOTHING);
  const put = (patch: Partial<Known>): void => known.update((before) => ({ ...before, ...patch }));

  const { find, loadRecent } = createSessionSearch(context, put);

  /** Devices that ask, and nodes: a node that asks as a device is one of those. */
  async function loadPairing(): Promise<Partial<Known>> {
    const [devices, own] = await Promise.all([
      link.has("device.pair.list") ? link.request("device.pair.list", {}) : undefined,
      link.has("node.pair.list") ? link.request("node.pair.list", {}) : undefined,
    ]);
    const pending = devices?.pending ?? [];
    const nodes = nodeRequests(pending, own?.pending ?? []);
    const others = pending.filter(({ requestId }) => !nodes.some((one) => one.requestId === requestId));
    const things = { ...known.value.things, devices: devices?.paired ?? [] };
    return { requests: { ...known.value.requests, devices: others.length }, nodeRequests: nodes, things };
  }

  /** What this browser may not see, or the gateway does not have, is left out. */
  async function load(): Promise<void> {
    const quiet = <T>(work: Promise<T>, use: (found: T) => void): Promise<void> => work.then(use, () => undefined);
    await Promise.all([
      loadRecent(),
      loadThings(link, (part) => put({ things: { ...known.value.things, ...part } })),
      quiet(link.request("cron.list", { includeDisabled: true }), ({ jobs }) => put({ jobs })),
      quiet(link.request("agents.list", {}), ({ agents, defaultId, mainKey }) => put({ agents, defaultAgent: defaultId, mainKey })),
      ...(link.has("prompts.list") ? [quiet(link.request("prompts.list", {}), ({ prompts }) => put({ prompts }))] : []),
      ...(known.value.hints === undefined && link.may("operator.admin")
        ? [quiet(link.request("config.schema", {}), ({ uiHints }) => put({ hints: uiHints }))]
        : []),
      ...(link.has("channels.pairing.list")
        ? [quiet(link.request("channels.pairing.list", {}), ({ requests }) => put({ requests: { ...known.value.requests, senders: requests.length } }))]
        : []),
      quiet(loadPairing(), put),
      ...(link.has("node.list") ? [quiet(link.request("node.list", {}), ({ nodes }) => put({ nodes }))] : []),
    ]);
  }

  function scope(): Scope | undefined {
    const { page, rest } = router.route.value;
    const [id] = rest;
    if (id === undefined) return undefined;
    const { recent, found, open, agents, jobs, mainKey } = known.value;
    if (page === "chat") {
      const row = [...recent, ...found, ...(open ? [open] : [])].find(({ key }) => key === id);
      return { title: row ? nameOf(row) : id, entries: actionsOfRow(context, id, row) };
    }
    const node = page === "nodes" ? known.value.nodes.find(({ nodeId }) => nodeId === id) : undefined;
    if (node) return { title: nodeName(node), entries: nodeActions(context, node) };
    const agent = page === "agents" ? agents.find((one) => one.id === id) : undefined;
    if (agent) return { title: agentName(agent), entries: agentActions(context, agent, mainKey) };
    const job = page === "jobs" ? jobs.find((one) => one.id === id) : undefined;
    return job ? { title: job.name, entries: jobActions(context, job) } : undefined;
  }

  function entries(words: string): readonly Entry[] {
    const { recent, found, jobs, agents, prompts, mainKey, hints, requests, defaultAgent, nodes } = known.value;
    return [
      ...attentionEntries(context, requests),
      ...nodeRequestEntries(context, known.value.nodeRequests),
      // Until the gateway has answered for these words, what fits of the newest is shown.
      ...(words === "" ? recent : [...found, ...recent]).map((row) => chatEntry(context, row, words === "" ? "recent" : "chats")),
      ...(words === "" ? [] : [...commandEntries(context, defaultAgent), ...promptEntries(context, prompts)]),
      ...(words === "" ? [] : [...jobs.map((job) => jobEntry(context, job)), ...agents.map((agent) => agentEntry(context, agent, mainKey))]),
      ...(words === "" ? [] : [...nodes.flatMap((node) => nodeEntries(context, node)), ...thingEntries(context, known.value.things)]),
      ...settingEntries(context, hints, words),
      ...memoryEntry(context, words),
      ...pageEntries(context),
    ];
  }

  return { known, load, find, scope, entries };
}
