import { readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { AppError, fileError } from "../../../base/errors.ts";
import { isRecord } from "../../../base/records.ts";
import { fileCommandText, type WrittenFile } from "../../../nodes/index.ts";
import { defineCommand, type Group } from "../../command.ts";
import { GATEWAY_OPTIONS, type GatewayFlags } from "../../gateway-call.ts";
import { printJson, type Io } from "../../io.ts";
import { invokeOption, millisecondsOf, withPatientGateway } from "./invoke.ts";
import { NODE_OPTION, nodeFor } from "./list.ts";
import { approvalFor, wantsApproval } from "./run.ts";

const MOST_BYTES = 8 * 1024 * 1024;
const DEFAULT_MS = 60_000;

const OPTIONS = {
  node: NODE_OPTION,
  agent: { type: "string", value: "id", help: "Agent whose rules apply" },
  ...invokeOption(DEFAULT_MS),
  ...GATEWAY_OPTIONS,
} as const;

type Flags = GatewayFlags & { readonly node?: string | undefined; readonly agent?: string | undefined; readonly "invoke-timeout"?: string | undefined };

/** Moves a file; asks the operators where the node wants it. */
function move(io: Io, flags: Flags, command: "file.read" | "file.write", { path, ...written }: { readonly path: string } & Partial<WrittenFile>) {
  const timeoutMs = millisecondsOf(flags["invoke-timeout"], "invoke-timeout", DEFAULT_MS);
  return withPatientGateway(io, flags, timeoutMs, async (client) => {
    const { nodeId } = await nodeFor(client, flags.node);
    const params = { path, ...written, ...(flags.agent === undefined ? {} : { agentId: flags.agent }) };
    const send = (approval: object) =>
      client.request("node.invoke", { nodeId, command, params: { ...params, ...approval }, timeoutMs, idempotencyKey: crypto.randomUUID() });
    try {
      return await send({});
    } catch (error) {
      if (!wantsApproval(error)) throw error;
      const { base64, overwrite = false } = written;
      const text = fileCommandText(command, path, base64 === undefined ? undefined : { base64, overwrite });
      const question = { nodeId, command: text, agentId: flags.agent ?? null };
      return send({ approved: true, ...(await approvalFor(io, client, question)) });
    }
  });
}

function readLocal(path: string): Buffer {
  try {
    const { size } = statSync(path);
    if (size > MOST_BYTES) throw new AppError("INVALID_INPUT", `${path} has ${size} bytes; the limit is ${MOST_BYTES}`);
    return readFileSync(path);
  } catch (error) {
    throw error instanceof AppError ? error : fileError(path, "could not read it", error);
  }
}

const get = defineCommand({
  positionals: "<path>",
  options: { ...OPTIONS, out: { type: "string", value: "path", help: "Output file (default: its name, in the current folder)" } },
  examples: [],
  async run({ io, values, positionals }) {
    const [path, ...others] = positionals;
    if (path === undefined || others.length > 0) throw new AppError("INVALID_INPUT", "expected one path on the node");
    const { payload } = await move(io, values, "file.read", { path });
    const { base64, size, sha256 } = isRecord(payload) ? payload : {};
    if (typeof base64 !== "string") throw new AppError("UNAVAILABLE", "the node answered without a file");
    const out = resolve(io.cwd, values.out ?? basename(path));
    try {
      writeFileSync(out, Buffer.from(base64, "base64"), { mode: 0o600, flag: values.out === undefined ? "wx" : "w" });
    } catch (error) {
      throw fileError(out, "could not save it", error);
    }
    if (values.json) printJson(io, { path: out, size, sha256 });
    else io.out(`${out}\n`);
  },
});

const put = defineCommand({
  positionals: "<file> <path>",
  options: { ...OPTIONS, overwrite: { type: "boolean", help: "Replace an existing file" } },
  examples: [],
  async run({ io, values, positionals }) {
    const [file, path, ...others] = positionals;
    if (file === undefined || path === undefined || others.length > 0) throw new AppError("INVALID_INPUT", "expected a local file and a path on the node");
    const { payload } = await move(io, values, "file.write", {
      path,
      base64: readLocal(resolve(io.cwd, file)).toString("base64"),
      overwrite: values.overwrite === true,
    });
    if (values.json) printJson(io, payload ?? null);
    else io.out(`${isRecord(payload) && typeof payload["path"] === "string" ? payload["path"] : path}\n`);
  },
});

export const file: Group = {
  entries: [
    { name: "get", summary: "Copy a file from a node", load: () => Promise.resolve(get) },
    { name: "put", summary: "Copy a file to a node", load: () => Promise.resolve(put) },
  ],
  examples: [],
};
