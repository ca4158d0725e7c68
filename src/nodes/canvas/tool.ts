import { join } from "node:path";
import type { Config } from "../../config/index.ts";
import { AppError } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import { isRecord } from "../../base/records.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import {
  CANVAS,
  createMarkUntrusted,
  defineTool,
  failedOutcome,
  jsonOutcome,
  textOutcome,
  type MarkUntrusted,
  type Tool,
  type ToolCall,
  type ToolOutcome,
} from "../../tools/index.ts";
import type { Nodes } from "../create-nodes.ts";
import { findNode, nodeName } from "../find-node.ts";
import type { NodeEntry } from "../registry.ts";
import { callPrefix, failedCall } from "../tool/failure.ts";
import { pictureOf } from "../tool/media.ts";
import type { Canvas } from "./create-canvas.ts";

export interface CanvasToolDeps {
  readonly nodes: Pick<Nodes, "list" | "invoke">;
  readonly canvas: Pick<Canvas, "surfaces">;
  readonly config: Pick<Config, "current" | "paths">;
  readonly ids: Pick<Ids, "hex">;
}

interface MadeDeps extends CanvasToolDeps {
  readonly mark: MarkUntrusted;
}

const ACTIONS = ["present", "hide", "navigate", "eval", "snapshot", "a2ui_push", "a2ui_reset"] as const;
type Action = (typeof ACTIONS)[number];
type Params = Readonly<Record<string, unknown>>;

const DESCRIPTION = `Show something on a canvas: a node's screen, or the panel beside this conversation in the Control UI.
present shows it, with url a page of the canvas folder (write it to canvas/ in the state folder, then url "page.html"); hide, navigate, eval (javaScript) and snapshot work on what is shown. a2ui_push takes A2UI messages in jsonl or jsonlPath: one JSON object to a line, 0.8 (surfaceUpdate, dataModelUpdate, beginRendering) or 0.9 (createSurface, updateComponents, updateDataModel). What the user does there comes back as a message that begins with CANVAS_A2UI.`;

const INVOKE_MS = 20_000;
const MOST_JSONL = 1_000_000;
/** The panel in the page, by name. */
const PAGE = new Set(["page", "control-ui"]);

const textIn = (params: Params, name: string): string | undefined => {
  const value = params[name];
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
};
const numberIn = (params: Params, name: string): number | undefined => (typeof params[name] === "number" ? params[name] : undefined);
const present = (fields: Params): Params => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
const hasCanvas = ({ connected, commands }: NodeEntry): boolean => connected && commands.some((command) => command.startsWith("canvas."));

/** Where a call goes: a node, or the page that shows the session. */
async function surfaceFor({ nodes, canvas }: MadeDeps, { params, context }: ToolCall): Promise<NodeEntry | "page"> {
  const wanted = textIn(params, "node")?.trim();
  if (wanted !== undefined && PAGE.has(wanted.toLowerCase())) return "page";
  // Nodes are the owner's; the panel belongs to the conversation that it stands beside.
  const all = context.owner ? await nodes.list() : [];
  if (wanted !== undefined) {
    if (!context.owner) throw new AppError("PERMISSION_DENIED", "only the owner uses the canvas of a node");
    return findNode(wanted, all);
  }
  const able = all.filter(hasCanvas);
  const [one, ...others] = able;
  if (one && others.length === 0) return one;
  const local = able.filter(({ nodeId, remoteIp }) => remoteIp === undefined && nodeId.startsWith("mac-"));
  if (local.length === 1) return local[0]!;
  if ((await canvas.surfaces()).isShown(context.sessionKey)) return "page";
  const why = able.length > 1 ? `several have a canvas: ${able.map(nodeName).join(", ")}` : "no node with a canvas is connected";
  throw new AppError("INVALID_INPUT", `node required: ${why}, and no page shows this conversation`);
}

async function jsonlOf({ config }: MadeDeps, { params, context }: ToolCall): Promise<string> {
  const written = textIn(params, "jsonl");
  const path = textIn(params, "jsonlPath");
  if (written !== undefined) return written;
  if (path === undefined) throw new AppError("INVALID_INPUT", "jsonl or jsonlPath required");
  const root = path.startsWith(join(config.paths.state, "canvas")) ? join(config.paths.state, "canvas") : context.workspaceDir;
  await using handle = await createRootedFiles({ root, unique: () => "" }).open(path.startsWith("/") ? path : join(root, path));
  const { size } = await handle.stat();
  if (size > MOST_JSONL) throw new AppError("INVALID_INPUT", `${path} has ${size} bytes; the limit is ${MOST_JSONL}`);
  return handle.readFile("utf8");
}

interface Command {
  readonly command: string;
  readonly params: Params;
}

function presentOf(params: Params): Command {
  const placement = present(Object.fromEntries(["x", "y", "width", "height"].map((name) => [name, numberIn(params, name)])));
  const url = textIn(params, "target") ?? textIn(params, "url");
  return { command: "canvas.present", params: present({ url, placement: Object.keys(placement).length > 0 ? placement : undefined }) };
}

function snapshotOf(params: Params): Command {
  const format = /^jpe?g$/.test(textIn(params, "outputFormat") ?? "png") ? "jpeg" : "png";
  const [maxWidth, quality, delayMs] = ["maxWidth", "quality", "delayMs"].map((name) => numberIn(params, name));
  return { command: "canvas.snapshot", params: present({ format, maxWidth, quality, delayMs }) };
}

function required(params: Params, ...names: readonly string[]): string {
  const found = names.map((name) => textIn(params, name)).find((text) => text !== undefined);
  if (found === undefined) throw new AppError("INVALID_INPUT", `${names[0]} required`);
  return found;
}

/** The command of each action and its parameters, as nodes know them. */
const COMMANDS: Readonly<Record<Action, (deps: MadeDeps, call: ToolCall) => Command | Promise<Command>>> = {
  present: (_, { params }) => presentOf(params),
  hide: () => ({ command: "canvas.hide", params: {} }),
  navigate: (_, { params }) => ({ command: "canvas.navigate", params: { url: required(params, "url", "target") } }),
  eval: (_, { params }) => ({ command: "canvas.eval", params: { javaScript: required(params, "javaScript") } }),
  snapshot: (_, { params }) => snapshotOf(params),
  a2ui_push: async (deps, call) => ({ command: "canvas.a2ui.pushJSONL", params: { jsonl: await jsonlOf(deps, call) } }),
  a2ui_reset: () => ({ command: "canvas.a2ui.reset", params: {} }),
};

async function run(action: Action, deps: MadeDeps, call: ToolCall): Promise<ToolOutcome> {
  const { context, signal } = call;
  const surface = await surfaceFor(deps, call);
  const { command, params } = await COMMANDS[action](deps, call);
  const idempotencyKey = `canvas:${context.runId}:${call.id}`;
  const payload =
    surface === "page"
      ? await (await deps.canvas.surfaces()).invoke(context.sessionKey, command, params, { signal, timeoutMs: INVOKE_MS })
      : (await deps.nodes.invoke({ nodeId: surface.nodeId, command, params, timeoutMs: INVOKE_MS, idempotencyKey }, { signal })).payload;
  const shownOn = surface === "page" ? "the Control UI" : nodeName(surface);
  if (action === "snapshot") {
    const { image, text } = pictureOf(payload);
    return { content: [{ type: "text", text }, image], details: { shownOn }, isError: false };
  }
  if (action !== "eval") return jsonOutcome({ ok: true, shownOn });
  const result = isRecord(payload) ? payload["result"] : payload;
  return textOutcome(deps.mark(typeof result === "string" ? result : JSON.stringify(result ?? null), { source: "canvas" }), { result });
}

const string = { type: "string" } as const;
const number = { type: "number" } as const;

/** The tool with which agents show something. */
export function canvasTool(deps: CanvasToolDeps): Tool {
  return defineTool<MadeDeps>({
    ...CANVAS,
    label: "Canvas",
    description: DESCRIPTION,
    parameters: {
      type: "object",
      properties: {
        action: { type: "string", enum: [...ACTIONS] },
        node: { ...string, description: 'A node, or "page" for the panel in the Control UI' },
        target: { ...string, description: "present: alias of url" },
        url: string,
        x: number,
        y: number,
        width: number,
        height: number,
        javaScript: string,
        outputFormat: { type: "string", enum: ["png", "jpg", "jpeg"] },
        maxWidth: number,
        quality: number,
        delayMs: number,
        jsonl: string,
        jsonlPath: { ...string, description: "A file in the workspace or the canvas folder" },
      },
      required: ["action"],
    },
    run: (made) => async (call) => {
      const { params, context } = call;
      const action = ACTIONS.find((known) => known === params["action"]);
      const prefix = callPrefix(context, textIn(params, "node"), params["action"]);
      if (action === undefined) return failedOutcome(`${prefix}: unknown action; expected ${ACTIONS.join(", ")}`);
      try {
        return await run(action, made, call);
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        return failedCall(prefix, error, made.mark);
      }
    },
  }).create({ ...deps, mark: createMarkUntrusted(deps.ids) });
}
