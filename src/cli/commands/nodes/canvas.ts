import { readFileSync } from "node:fs";
import { AppError, fileError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { loadA2ui, type GatewayClient } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, type GatewayFlags } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { invokeOption, millisecondsOf, numberOf, save, withPatientGateway } from "./invoke.ts";
import { nodeFor } from "./list.ts";

const INVOKE_MS = 20_000;

const SURFACE_OPTIONS = {
  node: { type: "string", value: "node", help: "Node (default: the only node with a canvas, or the Control UI)" },
  session: { type: "string", value: "key", help: "Session to show it beside, in the Control UI (default main)" },
  ...invokeOption(INVOKE_MS),
  ...GATEWAY_OPTIONS,
} as const;

interface Flags extends GatewayFlags {
  readonly node?: string | undefined;
  readonly session?: string | undefined;
  readonly "invoke-timeout"?: string | undefined;
}

/** The node that is meant; undefined for the Control UI. */
async function surfaceFor(client: GatewayClient, { node, session }: Flags): Promise<string | undefined> {
  if (node !== undefined) return (await nodeFor(client, node)).nodeId;
  if (session !== undefined) return undefined;
  const able = (await client.request("node.list", {})).nodes.filter(
    ({ connected, commands }) => connected && commands.some((command) => command.startsWith("canvas.")),
  );
  return able.length === 1 ? able[0]!.nodeId : undefined;
}

const defined = (params: Readonly<Record<string, unknown>>) => Object.fromEntries(Object.entries(params).filter(([, value]) => value !== undefined));

/** Runs a command on a canvas and gives its payload. */
function onCanvas(io: Io, flags: Flags, command: string, written: Readonly<Record<string, unknown>> = {}): Promise<unknown> {
  const timeoutMs = millisecondsOf(flags["invoke-timeout"], "invoke-timeout", INVOKE_MS);
  const params = defined(written);
  return withPatientGateway(io, flags, timeoutMs, async (client) => {
    const nodeId = await surfaceFor(client, flags);
    const idempotencyKey = crypto.randomUUID();
    if (nodeId !== undefined) return (await client.request("node.invoke", { nodeId, command, params, timeoutMs, idempotencyKey })).payload;
    return (await client.request("canvas.invoke", { sessionKey: flags.session ?? "main", command, params, timeoutMs, idempotencyKey })).payload;
  });
}

function done(io: Io, flags: Flags, text: string): void {
  if (flags.json) printJson(io, { ok: true });
  else io.out(`${text}\n`);
}

export const canvasPresent = defineCommand({
  options: {
    target: { type: "string", value: "path", help: "File in the canvas folder, or a URL for a node" },
    x: { type: "string", value: "px", help: "Position on a node" },
    y: { type: "string", value: "px", help: "Position on a node" },
    width: { type: "string", value: "px", help: "Width on a node" },
    height: { type: "string", value: "px", help: "Height on a node" },
    ...SURFACE_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    const placement = defined({ x: numberOf(values.x), y: numberOf(values.y), width: numberOf(values.width), height: numberOf(values.height) });
    await onCanvas(io, values, "canvas.present", { url: values.target, placement: Object.keys(placement).length > 0 ? placement : undefined });
    done(io, values, "Shown");
  },
});

export const canvasHide = defineCommand({
  options: SURFACE_OPTIONS,
  examples: [],
  async run({ io, values }) {
    await onCanvas(io, values, "canvas.hide");
    done(io, values, "Hidden");
  },
});

export const canvasNavigate = defineCommand({
  positionals: "<url>",
  options: SURFACE_OPTIONS,
  examples: [],
  async run({ io, values, positionals: [url] }) {
    if (url === undefined) throw new AppError("INVALID_INPUT", "expected a file in the canvas folder, or a URL");
    await onCanvas(io, values, "canvas.navigate", { url });
    done(io, values, "Shown");
  },
});

export const canvasEval = defineCommand({
  positionals: "[js]",
  options: { js: { type: "string", value: "code", help: "JavaScript to run" }, ...SURFACE_OPTIONS },
  examples: [],
  async run({ io, values, positionals }) {
    const javaScript = values.js ?? positionals.join(" ");
    if (javaScript.trim() === "") throw new AppError("INVALID_INPUT", "expected a script");
    const payload = await onCanvas(io, values, "canvas.eval", { javaScript });
    const result = isRecord(payload) ? payload["result"] : payload;
    if (values.json) printJson(io, { result: result ?? null });
    else io.out(`${typeof result === "string" ? result : JSON.stringify(result ?? null)}\n`);
  },
});

export const canvasSnapshot = defineCommand({
  options: {
    format: { type: "string", value: "type", help: "jpg (default) or png" },
    "max-width": { type: "string", value: "px", help: "Maximum width" },
    quality: { type: "string", value: "n", help: "JPEG quality, 0 to 1" },
    out: { type: "string", value: "file", help: "Output file" },
    ...SURFACE_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    const format = values.format ?? "jpg";
    if (!["jpg", "jpeg", "png"].includes(format)) throw new AppError("INVALID_INPUT", `--format takes jpg or png, not "${format}"`);
    const params = { format: format === "png" ? "png" : "jpeg", maxWidth: numberOf(values["max-width"]), quality: numberOf(values.quality) };
    const file = save(await onCanvas(io, values, "canvas.snapshot", params), values.out, "canvas");
    if (values.json) printJson(io, { file });
    else io.out(`${file.path}\n`);
  },
});

/** A text alone on a surface. */
function textMessages(text: string): string {
  const components = [{ id: "root", component: { Text: { text: { literalString: text }, usageHint: "body" } } }];
  return [{ surfaceUpdate: { surfaceId: "main", components } }, { beginRendering: { surfaceId: "main", root: "root" } }]
    .map((message) => JSON.stringify(message))
    .join("\n");
}

function readMessages(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw fileError(path, "could not read it", error);
  }
}

export const canvasPush = defineCommand({
  options: {
    jsonl: { type: "string", value: "file", help: "File with A2UI messages, one JSON object per line" },
    text: { type: "string", value: "text", help: "Show this text instead" },
    ...SURFACE_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    if ((values.jsonl === undefined) === (values.text === undefined)) throw new AppError("INVALID_INPUT", "expected --jsonl <file> or --text <text>");
    const jsonl = values.jsonl === undefined ? textMessages(values.text ?? "") : readMessages(values.jsonl);
    (await loadA2ui()).parseJsonl(jsonl);
    await onCanvas(io, values, "canvas.a2ui.pushJSONL", { jsonl });
    done(io, values, "Pushed");
  },
});

export const canvasReset = defineCommand({
  options: SURFACE_OPTIONS,
  examples: [],
  async run({ io, values }) {
    await onCanvas(io, values, "canvas.a2ui.reset");
    done(io, values, "Reset");
  },
});
