/** An executable `signal-cli` whose daemon listens where it is asked to and is the server of the test. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export interface ProgramSettings {
  /** Port of the server. */
  readonly port: number;
  /** It listens this long after its start. */
  readonly lateMs?: number;
  /** It ends at once, with this code and this line. */
  readonly exit?: { readonly code: number; readonly line: string };
  /** It does not end when it is asked to. */
  readonly isStubborn?: boolean;
}

export interface FakeProgram {
  readonly path: string;
  /** Arguments of each start. */
  starts(): readonly (readonly string[])[];
  /** Process ids of each start. */
  pids(): readonly number[];
}

const SOURCE = `
const { appendFileSync } = require("node:fs");
const net = require("node:net");
const settings = SETTINGS;
appendFileSync(settings.log, JSON.stringify({ args: process.argv.slice(2), pid: process.pid }) + "\\n");
if (settings.exit) {
  console.error(settings.exit.line);
  process.exit(settings.exit.code);
}
if (settings.isStubborn) process.on("SIGTERM", () => {});
const address = process.argv[process.argv.indexOf("--http") + 1];
const [host, port] = [address.slice(0, address.lastIndexOf(":")), Number(address.slice(address.lastIndexOf(":") + 1))];
const server = net.createServer((socket) => {
  const inner = net.connect(settings.port, "127.0.0.1");
  socket.pipe(inner).pipe(socket);
  for (const [one, other] of [[socket, inner], [inner, socket]]) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
});
server.on("error", (error) => {
  console.error("ERROR " + error.message);
  process.exit(3);
});
setTimeout(() => server.listen(port, host, () => console.error("INFO  DaemonCommand - Started HTTP server on " + address)), settings.lateMs ?? 0);
`;

/** Writes the program into a folder. */
export function writeProgram(folder: string, settings: ProgramSettings): FakeProgram {
  const [path, log] = [join(folder, "signal-cli"), join(folder, "starts.log")];
  writeFileSync(path, `#!${process.execPath}\n${SOURCE.replace("SETTINGS", () => JSON.stringify({ ...settings, log }))}`);
  chmodSync(path, 0o755);
  const lines = (): readonly { readonly args: readonly string[]; readonly pid: number }[] =>
    existsSync(log)
      ? readFileSync(log, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => JSON.parse(line) as { args: string[]; pid: number })
      : [];
  return { path, starts: () => lines().map(({ args }) => args), pids: () => lines().map(({ pid }) => pid) };
}
