import { chmodSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { AppError } from "../../../base/errors.ts";
import { ensureFolder, writeAtomic } from "../../../base/files.ts";
import { defineCommand, JSON_OPTION, type Values } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { parsePort } from "./port.ts";
import type { ServiceDefinition } from "./service/definition.ts";
import { commandLines, control, lingers, requireService, isInstalled } from "./service/service.ts";

function write({ file, content, mode }: ServiceDefinition): void {
  ensureFolder(dirname(file));
  writeAtomic(file, content, { mode, temporary: `${file}.${process.pid}.new` });
  // The file's own mode, whatever the umask is.
  chmodSync(file, mode);
}

const INSTALL_OPTIONS = {
  print: { type: "boolean", help: "Print the service file without installing it" },
  port: { type: "string", value: "n", help: "Port (default: from the configuration)" },
  token: { type: "string", value: "text", help: "Store the token in the service file (default: read it from the configuration)" },
  runtime: { type: "string", value: "node", help: "Accepted for compatibility; always node" },
  force: { type: "boolean", help: "Replace a service file that differs" },
  json: JSON_OPTION,
} as const;

/** Writes the service's file and lets the platform start it. Gives the exit code. */
export async function installGateway(io: Io, values: Values<typeof INSTALL_OPTIONS>): Promise<number> {
  if (values.runtime !== undefined && values.runtime !== "node") throw new AppError("INVALID_INPUT", `--runtime takes node, not "${values.runtime}"`);
  const service = requireService(io, { port: parsePort(values.port, 1), token: values.token });
  checkToken(values.token, service.kind);
  return installService(io, service, values);
}

const asText = (lines: readonly string[]): string => lines.map((line) => `  ${line}\n`).join("");

/** A token that the file of a service can hold as it is. */
function checkToken(token: string | undefined, kind: ServiceDefinition["kind"]): void {
  if (token === undefined || !(/\p{Cc}/u.test(token) || (kind === "schtasks" && token.includes('"')))) return;
  const what = kind === "schtasks" ? "quotation marks or control characters" : "control characters";
  throw new AppError("INVALID_INPUT", `--token has ${what}, which a service file cannot hold; set it with: openclaw config set gateway.auth.token <token>`);
}

interface InstallFlags {
  readonly print?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Writes a service's file and lets the platform start it. Gives the exit code. */
export async function installService(io: Io, service: ServiceDefinition, values: InstallFlags): Promise<number> {
  const { kind, label, file, content, load, hint } = service;
  if (values.print) {
    if (values.json) printJson(io, { kind, label, file, content });
    else {
      io.err(`${file}\n`);
      io.out(content);
    }
    return 0;
  }
  if (existsSync(file) && readFileSync(file, "utf8") !== content && !values.force) {
    throw new AppError("CONFLICT", `${file} already exists with different content; use --force to replace it, or --print to see the new one`);
  }
  write(service);
  const problem = await control(io, load);
  if (values.json)
    printJson(io, { ok: problem === undefined, kind, label, file, ...(problem === undefined ? {} : { problem, run: commandLines(service, load) }) });
  else {
    io.out(`Installed ${label} as ${file}\n`);
    if (problem !== undefined) io.err(`The service could not be started (${problem}). Run:\n${asText(commandLines(service, load))}`);
    if (hint !== undefined && !(await lingers(io))) io.out(`${hint}\n`);
  }
  return problem === undefined ? 0 : 1;
}

export const install = defineCommand({
  options: INSTALL_OPTIONS,
  examples: [{ line: "openclaw gateway install --print", does: "Show what would be installed" }],
  run: ({ io, values }) => installGateway(io, values),
});

export const uninstall = defineCommand({
  options: { print: { type: "boolean", help: "Print the commands without running them" }, json: JSON_OPTION },
  examples: [{ line: "openclaw gateway uninstall --print", does: "Show what would be removed" }],
  run: ({ io, values }) => uninstallService(io, requireService(io), values, "openclaw gateway stop"),
});

/** Removes a service's file; `stop` is the command that stops it. */
export async function uninstallService(io: Io, service: ServiceDefinition, values: Omit<InstallFlags, "force">, stop: string): Promise<void> {
  const { label, file, unload, forget } = service;
  const installed = isInstalled(service);
  if (values.print) {
    const lines = commandLines(service, [...unload, ...forget]);
    if (values.json) printJson(io, { label, file, installed, run: lines });
    else io.out(`${installed ? "Removes" : "Not installed. Otherwise removes"} ${file} and runs:\n${asText(lines)}`);
    return;
  }
  const problem = installed ? await control(io, unload) : undefined;
  rmSync(file, { force: true });
  if (installed) await control(io, forget);
  if (values.json) printJson(io, { ok: true, label, file, removed: installed, ...(problem === undefined ? {} : { problem }) });
  else {
    io.out(installed ? `Removed ${file}\n` : `${label} is not installed\n`);
    if (problem !== undefined) io.err(`It may still be running (${problem}). Stop it with: ${stop}\n`);
  }
}

export const start = defineCommand({
  options: { json: JSON_OPTION },
  examples: [],
  async run({ io, values }) {
    const service = requireService(io);
    if (!isInstalled(service))
      throw new AppError("NOT_FOUND", `${service.label} is not installed; install it with \`openclaw gateway install\`, or run \`openclaw gateway\``);
    const problem = await control(io, service.start);
    if (problem !== undefined) throw new AppError("UNAVAILABLE", `${service.label} could not be started: ${problem}`);
    if (values.json) printJson(io, { ok: true, label: service.label });
    else io.out(`Started ${service.label}\n`);
  },
});
