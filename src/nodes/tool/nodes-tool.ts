import { AppError } from "../../base/errors.ts";
import { isRecord } from "../../base/records.ts";
import {
  createMarkUntrusted,
  failedOutcome,
  jsonOutcome,
  NODES,
  textOutcome,
  defineTool,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from "../../tools/index.ts";
import { findNode, nodeName } from "../find-node.ts";
import type { NodeEntry } from "../registry.ts";
import type { NodeActionDeps, NodesToolDeps } from "./deps.ts";
import { callPrefix, failedCall } from "./failure.ts";
import { getFile, putFile } from "./files.ts";
import { clipOf, pictureOf } from "./media.ts";
import { durationIn, numberIn, present, required, textIn, type Params } from "./params.ts";
import { isFileCommand, moveFile, runOnNamedNode } from "./run.ts";

const ACTIONS = [
  "status",
  "describe",
  "pending",
  "approve",
  "reject",
  "notify",
  "camera_snap",
  "camera_list",
  "camera_clip",
  "screen_record",
  "location_get",
  "file_get",
  "file_put",
  "run",
  "invoke",
] as const;
type Action = (typeof ACTIONS)[number];

const DESCRIPTION = `Use the owner's paired devices (nodes).
status lists them, describe shows one, pending lists requests, approve and reject decide by requestId. notify shows title and body. run runs command (program and arguments) with cwd, env ["K=V"]. camera_list, camera_snap, camera_clip, screen_record and location_get need a node that declares them and the owner's configuration. file_get copies path of the node to outPath here, file_put copies file from here to path on the node. Recordings go to outPath. invoke calls another command with invokeParamsJson. node is an id, a name or an address.`;

const INVOKE_MS = 20_000;
const SPARE_MS = 20_000;

interface Use {
  readonly deps: NodeActionDeps;
  readonly call: ToolCall;
  readonly params: Params;
}

async function nodeOf({ deps, params }: Use): Promise<NodeEntry> {
  const nodes = await deps.nodes.list();
  const wanted = textIn(params, "node");
  if (wanted !== undefined) return findNode(wanted, nodes);
  const connected = nodes.filter((node) => node.connected);
  if (connected.length === 1) return connected[0]!;
  throw new AppError(
    "INVALID_INPUT",
    `node required${connected.length === 0 ? ": no node is connected" : `; connected are ${connected.map(nodeName).join(", ")}`}`,
  );
}

async function invoke(use: Use, command: string, params: unknown, options: { readonly timeoutMs?: number; readonly part?: string } = {}): Promise<unknown> {
  const { deps, call } = use;
  const { nodeId } = await nodeOf(use);
  const timeoutMs = numberIn(use.params, "invokeTimeoutMs") ?? options.timeoutMs ?? INVOKE_MS;
  const idempotencyKey = `nodes:${call.context.runId}:${call.id}${options.part === undefined ? "" : `:${options.part}`}`;
  return (await deps.nodes.invoke({ nodeId, command, params, timeoutMs, idempotencyKey }, { signal: call.signal, sessionKey: call.context.sessionKey }))
    .payload;
}

/** What a node answered is text of others. */
const marked = ({ deps }: Use, value: unknown): ToolOutcome => textOutcome(deps.mark(JSON.stringify(value ?? null, null, 2), { source: "nodes" }), value);

/** The node has no camera on the side that was asked for. */
function isCameraMissing({ details }: AppError): boolean {
  const nodeError = isRecord(details) ? details["nodeError"] : undefined;
  return isRecord(nodeError) && nodeError["code"] === "CAMERA_UNAVAILABLE";
}

async function snap(use: Use): Promise<ToolOutcome> {
  const { params } = use;
  // One camera that is named has one side.
  const facing = textIn(params, "facing") ?? (textIn(params, "deviceId") === undefined ? "both" : "front");
  if (!["front", "back", "both"].includes(facing)) throw new AppError("INVALID_INPUT", "facing must be front, back or both");
  const sides = facing === "both" ? ["front", "back"] : [facing];
  const pictures: ReturnType<typeof pictureOf>[] = [];
  const failures: AppError[] = [];
  for (const side of sides) {
    const asked = present({
      facing: side,
      maxWidth: numberIn(params, "maxWidth"),
      quality: numberIn(params, "quality"),
      delayMs: numberIn(params, "delayMs"),
      deviceId: textIn(params, "deviceId"),
      format: "jpg",
    });
    try {
      pictures.push(pictureOf(await invoke(use, "camera.snap", asked, { part: side })));
    } catch (error) {
      if (!(error instanceof AppError) || !isCameraMissing(error)) throw error;
      failures.push(error);
    }
  }
  // Many machines have one camera: a side that is missing does not take the other one's picture away.
  if (pictures.length === 0) throw failures[0]!;
  return { content: pictures.flatMap(({ image, text }) => [{ type: "text", text }, image]), details: { pictures: pictures.length }, isError: false };
}

async function record(use: Use, command: "camera.clip" | "screen.record", asked: Params, durationMs: number): Promise<ToolOutcome> {
  const { deps, call, params } = use;
  const files = await deps.files(call);
  const payload = await invoke(use, command, present({ ...asked, durationMs, format: "mp4" }), { timeoutMs: durationMs + SPARE_MS });
  return jsonOutcome(await clipOf(payload, files, { outPath: textIn(params, "outPath"), name: `${command.replace(".", "-")}-${deps.clock.now()}` }));
}

/** Commands with checks of their own that `invoke` would go past. */
const INSTEAD: readonly (readonly [RegExp, string])[] = [
  [/^system\.(?:run$|execApprovals\.)/, "the action run"],
  [/^browser\./, 'the tool browser with target "node"'],
];

const HANDLERS: Readonly<Record<Action, (use: Use) => Promise<ToolOutcome>>> = {
  status: async ({ deps }) => marked({ deps } as Use, { nodes: await deps.nodes.list() }),
  describe: async (use) => marked(use, await nodeOf(use)),
  pending: async (use) => marked(use, { pending: (await use.deps.pairing.list()).pending }),
  approve: async ({ deps, params }) => {
    const { node } = await deps.pairing.approve(required(params, "requestId"));
    return jsonOutcome({ ok: true, nodeId: node.nodeId });
  },
  reject: async ({ deps, params }) => jsonOutcome({ ok: true, ...(await deps.pairing.reject(required(params, "requestId"))) }),
  async notify(use) {
    const { params } = use;
    const fields = present({
      title: textIn(params, "title"),
      body: textIn(params, "body"),
      sound: textIn(params, "sound"),
      priority: textIn(params, "priority"),
      delivery: textIn(params, "delivery"),
    });
    if (fields["title"] === undefined && fields["body"] === undefined) throw new AppError("INVALID_INPUT", "title or body required");
    await invoke(use, "system.notify", fields);
    return jsonOutcome({ ok: true });
  },
  camera_snap: snap,
  camera_list: async (use) => marked(use, await invoke(use, "camera.list", {})),
  camera_clip: async (use) => {
    const asked = {
      facing: textIn(use.params, "facing") ?? "front",
      includeAudio: use.params["includeAudio"] !== false,
      deviceId: textIn(use.params, "deviceId"),
    };
    return record(use, "camera.clip", asked, durationIn(use.params, 3000));
  },
  screen_record: async (use) => {
    const { params } = use;
    const asked = { fps: numberIn(params, "fps") ?? 10, screenIndex: numberIn(params, "screenIndex") ?? 0, includeAudio: params["includeAudio"] !== false };
    return record(use, "screen.record", asked, durationIn(params, 10_000));
  },
  location_get: async (use) => {
    const { params } = use;
    const asked = present({
      maxAgeMs: numberIn(params, "maxAgeMs"),
      desiredAccuracy: textIn(params, "desiredAccuracy"),
      timeoutMs: numberIn(params, "locationTimeoutMs"),
    });
    return marked(use, await invoke(use, "location.get", asked));
  },
  file_get: async (use) => jsonOutcome(await getFile(use.deps, use.call, await nodeOf(use))),
  file_put: async (use) => jsonOutcome(await putFile(use.deps, use.call, await nodeOf(use))),
  run: async (use) => runOnNamedNode(use.deps, use.call, await nodeOf(use)),
  async invoke(use) {
    const command = required(use.params, "invokeCommand").trim();
    const instead = INSTEAD.find(([pattern]) => pattern.test(command))?.[1];
    if (instead !== undefined) throw new AppError("PERMISSION_DENIED", `${command} cannot be invoked like this; use ${instead}`);
    const written = textIn(use.params, "invokeParamsJson");
    let params: unknown = {};
    try {
      if (written !== undefined) params = JSON.parse(written);
    } catch {
      throw new AppError("INVALID_INPUT", "invokeParamsJson is not JSON");
    }
    if (!isFileCommand(command)) return marked(use, await invoke(use, command, params));
    const timeoutMs = numberIn(use.params, "invokeTimeoutMs") ?? INVOKE_MS;
    return marked(use, await moveFile(use.deps, use.call, await nodeOf(use), { command, params, timeoutMs }));
  },
};

const string = { type: "string" } as const;
const number = { type: "number" } as const;

/** The tool with which the owner's agent uses nodes. */
export function nodesTool(deps: NodesToolDeps): Tool {
  return defineTool<NodeActionDeps>({
    ...NODES,
    label: "Nodes",
    description: DESCRIPTION,
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS] },
        node: { ...string, description: "Id, name or address" },
        requestId: string,
        title: string,
        body: string,
        sound: string,
        priority: { type: "string", enum: ["passive", "active", "timeSensitive"] },
        delivery: { type: "string", enum: ["system", "overlay", "auto"] },
        facing: { type: "string", enum: ["front", "back", "both"] },
        maxWidth: number,
        quality: number,
        delayMs: number,
        deviceId: string,
        duration: { ...string, description: "As 10s or 2m" },
        durationMs: number,
        includeAudio: { type: "boolean" },
        fps: number,
        screenIndex: number,
        outPath: { ...string, description: "Where a recording, or the file of file_get, is written here" },
        path: { ...string, description: "file_get, file_put: the file on the node" },
        file: { ...string, description: "file_put: the file here" },
        overwrite: { type: "boolean", description: "file_put: may replace a file" },
        maxAgeMs: number,
        locationTimeoutMs: number,
        desiredAccuracy: { type: "string", enum: ["coarse", "balanced", "precise"] },
        command: { type: "array", items: { type: "string" }, description: "run: the program and its arguments" },
        cwd: string,
        env: { type: "array", items: { type: "string" }, description: "run: K=V" },
        commandTimeoutMs: number,
        invokeTimeoutMs: number,
        needsScreenRecording: { type: "boolean" },
        invokeCommand: string,
        invokeParamsJson: string,
      },
      required: ["action"],
    },
    asks: ({ action, requestId }) =>
      action === "approve" ? { title: "Pair a node", description: `Approve the pairing request ${String(requestId)}`, severity: "warning" } : undefined,
    run: (made) => async (call) => {
      const { params, context } = call;
      const action = ACTIONS.find((known) => known === params["action"]);
      const prefix = callPrefix(context, textIn(params, "node"), params["action"]);
      if (action === undefined) return failedOutcome(`${prefix}: unknown action; expected ${ACTIONS.join(", ")}`);
      try {
        return await HANDLERS[action]({ deps: made, call, params });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return failedCall(prefix, error, made.mark);
      }
    },
  }).create({ ...deps, mark: createMarkUntrusted(deps.ids) });
}
