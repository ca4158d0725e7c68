import { join } from "node:path";
import { loadCron } from "../automation/index.ts";
import { isRecord } from "../base/records.ts";
import type { Ids } from "../base/ids.ts";
import { loadToolBrowsers, type BrowserRequest, type LazyBrowser } from "../browser/index.ts";
import type { Config } from "../config/index.ts";
import type { Conversation } from "../conversation/index.ts";
import { queueSystemEvent, type Auth } from "../gateway/index.ts";
import { createCanvas, createNodes, loadBrowserNodes, type Canvas, type CanvasDeps, type Nodes, type PairedNodeDevice } from "../nodes/index.ts";
import type { Core } from "./core.ts";
import type { Automation } from "./open-automation.ts";

export interface OpenNodesDeps {
  readonly core: Core;
  readonly auth: Pick<Auth, "pairing" | "nodes">;
  readonly conversation: () => Pick<Conversation, "accept">;
  readonly automation: () => Pick<Automation, "notify">;
}

/** A node reports the end of a command once: nobody has seen it before. */
const NOT_SEEN = { isSeen: () => false };

/** Devices that were approved as nodes; a name of the pairing that is kept apart wins. */
async function pairedNodes({ pairing, nodes }: OpenNodesDeps["auth"]): Promise<readonly PairedNodeDevice[]> {
  const [devices, paired] = await Promise.all([pairing.list(), nodes.list()]);
  const found = new Map<string, PairedNodeDevice>();
  for (const { deviceId, roles = [], displayName, platform, remoteIp, tokens = [] } of devices.paired) {
    if (!roles.includes("node")) continue;
    const lastSeenAtMs = tokens.find(({ role }) => role === "node")?.lastUsedAtMs;
    found.set(deviceId, { nodeId: deviceId, displayName, platform, remoteIp, lastSeenAtMs });
  }
  for (const { nodeId, displayName, platform, remoteIp } of paired.paired) {
    const device = found.get(nodeId);
    found.set(nodeId, {
      nodeId,
      displayName: displayName ?? device?.displayName,
      platform: device?.platform ?? platform,
      remoteIp: device?.remoteIp ?? remoteIp,
      lastSeenAtMs: device?.lastSeenAtMs,
    });
  }
  return [...found.values()];
}

/** Beside the bundle that this is a chunk of. */
const CANVAS_FOLDER = join(import.meta.dirname, "..", "canvas");

/** Pages of agents, and the panel in the page that shows them. */
export function openCanvas({ core, conversation, send }: Pick<OpenNodesDeps, "core" | "conversation"> & Pick<CanvasDeps, "send">): Canvas {
  const { config, clock, ids, log, env, store } = core;
  return createCanvas({
    store,
    config,
    clock,
    ids,
    log: log.subsystem("canvas"),
    send,
    runs: { accept: (...args) => conversation().accept(...args) },
    codeFolder: CANVAS_FOLDER,
    skipped: env["OPENCLAW_SKIP_CANVAS_HOST"] === "1",
  });
}

/** Nodes: what is connected and paired. Their code is loaded when one is asked for something. */
export function openNodes({ core, auth, conversation, automation }: OpenNodesDeps): Nodes {
  const { config, store, clock, ids, log } = core;
  return createNodes({
    config,
    store,
    clock,
    ids,
    log: log.subsystem("nodes"),
    paired: () => pairedNodes(auth),
    runs: { accept: (...args) => conversation().accept(...args) },
    queueLine: (event) => queueSystemEvent({ config, store, ids }, event),
    notify: (event) => automation().notify({ ...event, end: NOT_SEEN }),
    async chatOf({ agentId, channel, to }) {
      const { targetOf } = await loadCron();
      return targetOf({ agentId, delivery: { mode: "announce", channel, ...(to === undefined ? {} : { to }) } }, config.current, store);
    },
  });
}

interface BrowserRequestDeps {
  readonly browser: LazyBrowser;
  readonly nodes: Nodes;
  readonly config: Config;
  readonly ids: Ids;
}

const isHere = ({ path, query, body }: BrowserRequest): boolean =>
  /^\/?(?:profiles\/.|reset-profile\b)/.test(path) || query["profile"] === "chrome" || (isRecord(body) && body["profile"] === "chrome");

/** `browser.request`: on the one node that shares a browser, else here. Profiles are settings of this machine. */
export function browserRequests({ browser, nodes, config, ids }: BrowserRequestDeps): LazyBrowser["request"] {
  return async (request) => {
    const node = isHere(request) ? undefined : await (await loadBrowserNodes()).browserNode({ owner: true }, { nodes, config, ids });
    if (!node) return browser.request(request);
    const { method, path, query, body, timeoutMs, caller, signal } = request;
    const { checkScripts, proxyAnswer, storedFile, withDownloads } = await loadToolBrowsers();
    checkScripts({ ...query, ...(isRecord(body) ? body : {}) }, config.current.browser?.evaluateEnabled !== false);
    const answer = proxyAnswer(await node.send({ method, path, query, body, timeoutMs, session: caller }, signal));
    // A path without its file would be one of this machine.
    const files = { stateDir: config.paths.state, ids };
    const result = await withDownloads(answer, files);
    if (!isRecord(result) || result["path"] === undefined) return result;
    return { ...result, path: (await storedFile(answer, files)).path };
  };
}
