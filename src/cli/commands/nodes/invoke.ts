import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { withOutcome } from "../../../nodes/index.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { connectTo, GATEWAY_OPTIONS, timeoutOf, type GatewayFlags } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { NODE_OPTION, nodeFor } from "./list.ts";

/** How long the gateway may take besides the node. */
const SPARE_MS = 10_000;

export function millisecondsOf(text: string | undefined, flag: string, fallback: number): number {
  const ms = Number(text ?? fallback);
  if (!(ms >= 0)) throw new AppError("INVALID_INPUT", `--${flag} takes milliseconds, not "${text}"`);
  return ms;
}

export const invokeOption = (fallback: number) =>
  ({ "invoke-timeout": { type: "string", value: "ms", help: `Time limit for the node, in ms (default ${fallback})` } }) as const;

const REMEDIES: Readonly<Record<string, string>> = {
  "command not allowlisted": "add it to gateway.nodes.allowCommands, unless gateway.nodes.denyCommands lists it",
  "command not declared by node": "the node does not support it; see what it supports with: openclaw nodes describe",
  "node did not declare commands": "the node supports no commands; update or restart it",
};

/** The error with the reason that the gateway gives beside it. */
function withReason(error: unknown): unknown {
  if (!(error instanceof AppError)) return error;
  const { details } = error.details;
  if (error.message !== "node command not allowed") return isRecord(details) ? withOutcome(error, details) : error;
  const { reason, command } = isRecord(details) ? details : {};
  if (typeof reason !== "string") return error;
  const remedy = Object.hasOwn(REMEDIES, reason) ? `; ${REMEDIES[reason]}` : "";
  return new AppError(error.code, `node command not allowed: ${String(command)}: ${reason}${remedy}`, { cause: error, details: error.details });
}

/** Runs `use` with a connection that waits as long as the node may take. */
export async function withPatientGateway<T>(io: Io, flags: GatewayFlags, invokeMs: number, use: (client: GatewayClient) => Promise<T>): Promise<T> {
  const target = await findTarget(io, flags);
  await using client = await connectTo(io, target, Math.max(timeoutOf(flags), invokeMs + SPARE_MS));
  try {
    return await use(client);
  } catch (error) {
    throw withReason(error);
  }
}

interface Invoke {
  readonly node: string | undefined;
  readonly command: string;
  readonly params: unknown;
  readonly timeoutMs: number;
  readonly key?: string | undefined;
}

/** Invokes one command and gives its payload. */
function invokeOnce(io: Io, flags: GatewayFlags, { node, command, params, timeoutMs, key }: Invoke) {
  return withPatientGateway(io, flags, timeoutMs, async (client) => {
    const { nodeId } = await nodeFor(client, node);
    return client.request("node.invoke", { nodeId, command, params, timeoutMs, idempotencyKey: key ?? crypto.randomUUID() });
  });
}

function parsedParams(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new AppError("INVALID_INPUT", `--params is not JSON: ${text}`, { cause: error });
  }
}

export const invoke = defineCommand({
  options: {
    node: NODE_OPTION,
    command: { type: "string", value: "name", help: "Command, such as system.which" },
    params: { type: "string", value: "json", help: "Parameters as JSON (default {})" },
    ...invokeOption(15_000),
    "idempotency-key": { type: "string", value: "text", help: "Idempotency key: the command runs once per key" },
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: `openclaw nodes invoke --node kitchen --command system.which --params '{"bins":["git"]}'`, does: "Find a program on a node" }],
  async run({ io, values }) {
    const command = values.command?.trim() ?? "";
    if (command === "") throw new AppError("INVALID_INPUT", "expected --command <name>");
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 15_000);
    const params = parsedParams(values.params ?? "{}");
    const done = await invokeOnce(io, values, { node: values.node, command, params, timeoutMs, key: values["idempotency-key"] });
    printJson(io, values.json ? done : (done.payload ?? null));
  },
});

export const notify = defineCommand({
  options: {
    node: NODE_OPTION,
    title: { type: "string", value: "text", help: "Title" },
    body: { type: "string", value: "text", help: "Text" },
    sound: { type: "string", value: "name", help: "Sound" },
    priority: { type: "string", value: "level", help: "passive, active or timeSensitive" },
    delivery: { type: "string", value: "way", help: "system (default), overlay or auto" },
    ...invokeOption(15_000),
    ...GATEWAY_OPTIONS,
  },
  examples: [{ line: 'openclaw nodes notify --node kitchen --body "Dinner is ready"', does: "Show a notification there" }],
  async run({ io, values }) {
    const { title, body, sound, priority, delivery = "system" } = values;
    if (!title?.trim() && !body?.trim()) throw new AppError("INVALID_INPUT", "expected --title, --body, or both");
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 15_000);
    const done = await invokeOnce(io, values, { node: values.node, command: "system.notify", params: { title, body, sound, priority, delivery }, timeoutMs });
    if (values.json) printJson(io, done);
    else io.out("Sent\n");
  },
});

export const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

/** Saves what a node recorded. */
export function save(payload: unknown, out: string | undefined, name: string): { readonly path: string; readonly bytes: number } {
  const { base64, format } = isRecord(payload) ? payload : {};
  if (typeof base64 !== "string" || typeof format !== "string" || !/^[a-z0-9]{1,5}$/i.test(format))
    throw new AppError("UNAVAILABLE", "the node returned no image or recording");
  const path = resolve(out ?? join(tmpdir(), `openclaw-${name}-${Date.now()}.${format.toLowerCase()}`));
  const content = Buffer.from(base64, "base64");
  try {
    writeFileSync(path, content, { mode: 0o600 });
  } catch (error) {
    throw fileError(path, "could not save it", error);
  }
  return { path, bytes: content.length };
}

export const cameraList = defineCommand({
  options: { node: NODE_OPTION, ...invokeOption(20_000), ...GATEWAY_OPTIONS },
  examples: [],
  async run({ io, values }) {
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 20_000);
    printJson(io, (await invokeOnce(io, values, { node: values.node, command: "camera.list", params: {}, timeoutMs })).payload ?? null);
  },
});

const CAMERA_OPTIONS = {
  node: NODE_OPTION,
  facing: { type: "string", value: "side", help: "front, back, or both for pictures" },
  "device-id": { type: "string", value: "id", help: "Camera id" },
} as const;

/** The node has no camera on the side that was asked for. */
function isCameraMissing(error: unknown): error is AppError {
  const { details } = error instanceof AppError ? error.details : {};
  const nodeError = isRecord(details) ? details["nodeError"] : undefined;
  return isRecord(nodeError) && nodeError["code"] === "CAMERA_UNAVAILABLE";
}

export const cameraSnap = defineCommand({
  options: {
    ...CAMERA_OPTIONS,
    "max-width": { type: "string", value: "px", help: "Maximum width" },
    quality: { type: "string", value: "n", help: "0 to 1" },
    "delay-ms": { type: "string", value: "ms", help: "Delay before the picture, in ms" },
    ...invokeOption(20_000),
    ...GATEWAY_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    // One camera that is named has one side.
    const facing = values.facing ?? (values["device-id"] === undefined ? "both" : "front");
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 20_000);
    const saved = [];
    const failures: AppError[] = [];
    for (const side of facing === "both" ? ["front", "back"] : [facing]) {
      const params = {
        facing: side,
        deviceId: values["device-id"],
        maxWidth: numberOf(values["max-width"]),
        quality: numberOf(values.quality),
        delayMs: numberOf(values["delay-ms"]),
        format: "jpg",
      };
      try {
        const { payload } = await invokeOnce(io, values, { node: values.node, command: "camera.snap", params, timeoutMs });
        saved.push({ facing: side, ...save(payload, undefined, `camera-${side}`) });
      } catch (error) {
        if (!isCameraMissing(error)) throw error;
        failures.push(error);
      }
    }
    // Many machines have one camera.
    if (saved.length === 0 && failures[0]) throw failures[0];
    if (values.json) printJson(io, { files: saved });
    else for (const { path } of saved) io.out(`${path}\n`);
  },
});

export const cameraClip = defineCommand({
  options: {
    ...CAMERA_OPTIONS,
    duration: { type: "string", value: "ms", help: "Duration in ms (default 3000)" },
    "no-audio": { type: "boolean", help: "Record without sound" },
    ...invokeOption(90_000),
    ...GATEWAY_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 90_000);
    const durationMs = millisecondsOf(values.duration, "duration", 3000);
    const params = { facing: values.facing ?? "front", deviceId: values["device-id"], durationMs, includeAudio: !values["no-audio"], format: "mp4" };
    const file = save((await invokeOnce(io, values, { node: values.node, command: "camera.clip", params, timeoutMs })).payload, undefined, "camera");
    if (values.json) printJson(io, { file });
    else io.out(`${file.path}\n`);
  },
});

export const screenRecord = defineCommand({
  options: {
    node: NODE_OPTION,
    screen: { type: "string", value: "n", help: "Screen number (default 0)" },
    duration: { type: "string", value: "ms", help: "Duration in ms (default 10000)" },
    fps: { type: "string", value: "n", help: "Frames per second (default 10)" },
    "no-audio": { type: "boolean", help: "Record without sound" },
    out: { type: "string", value: "file", help: "Output file" },
    ...invokeOption(120_000),
    ...GATEWAY_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 120_000);
    const durationMs = millisecondsOf(values.duration, "duration", 10_000);
    const params = { screenIndex: Number(values.screen ?? 0), durationMs, fps: Number(values.fps ?? 10), includeAudio: !values["no-audio"], format: "mp4" };
    const file = save((await invokeOnce(io, values, { node: values.node, command: "screen.record", params, timeoutMs })).payload, values.out, "screen");
    if (values.json) printJson(io, { file });
    else io.out(`${file.path}\n`);
  },
});

export const locationGet = defineCommand({
  options: {
    node: NODE_OPTION,
    "max-age": { type: "string", value: "ms", help: "Maximum age of the position, in ms" },
    accuracy: { type: "string", value: "level", help: "coarse, balanced or precise" },
    "location-timeout": { type: "string", value: "ms", help: "Time limit for the location, in ms (default 10000)" },
    ...invokeOption(20_000),
    ...GATEWAY_OPTIONS,
  },
  examples: [],
  async run({ io, values }) {
    const timeoutMs = millisecondsOf(values["invoke-timeout"], "invoke-timeout", 20_000);
    const params = {
      maxAgeMs: numberOf(values["max-age"]),
      desiredAccuracy: values.accuracy,
      timeoutMs: millisecondsOf(values["location-timeout"], "location-timeout", 10_000),
    };
    printJson(io, (await invokeOnce(io, values, { node: values.node, command: "location.get", params, timeoutMs })).payload ?? null);
  },
});
