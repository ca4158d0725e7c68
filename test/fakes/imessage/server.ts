/** A Mac with Messages, and `imsg` as a program that finds it. What people wrote is there for longer than any process. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { call, type MethodDeps, RpcError, type Watch } from "./methods.ts";
import { createWorld, messageOf, type Row, type World } from "./world.ts";

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** What happens to the next request of a method. */
export interface Fault {
  readonly on: string;
  /** It has its effect before. Default false. */
  readonly applied?: boolean;
  /** The program ends, says nothing, writes something else, or answers with this error. */
  readonly outcome: "exit" | "silent" | "garbage" | RpcError;
}

export interface Asked {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

interface Program {
  readonly args: readonly string[];
  readonly socket: Socket;
  readonly watches: Watch[];
  isFrozen: boolean;
  /** Answers come one after the other. */
  work: Promise<void>;
}

export interface FakeMessages extends AsyncDisposable, Pick<World, "direct" | "group" | "say" | "react" | "rows" | "chats"> {
  readonly folder: string;
  readonly cliPath: string;
  readonly dbPath: string;
  /** Where files that people sent are, as paths of the Mac. */
  readonly attachments: string;
  /** `ssh` and `scp`, for the PATH of a gateway that uses a Mac elsewhere. */
  readonly bin: string;
  /** What `ssh` and `scp` were called with. */
  calls(): readonly (readonly string[])[];
  readonly asked: readonly Asked[];
  /** Arguments of every program that was started. */
  readonly started: readonly (readonly string[])[];
  readonly features: MethodDeps["features"];
  readonly faults: Fault[];
  /** Messages that the account sent from elsewhere. */
  sayAsOwner(chat: ReturnType<World["direct"]>, text: string): Row;
  /** A row that Messages adds as if a person had written it. */
  add: World["add"];
  /** Writes the row again. */
  redeliver(row: Row): void;
  /** Writes anything. */
  write(text: string): void;
  /** Full Disk Access is taken away, or given again. */
  deny(isDenied: boolean): void;
  slow(ms: number): void;
  running(): number;
  /** Ends all programs. */
  drop(): void;
  /** Programs that run now neither answer nor write any more. */
  freeze(): void;
  /** Nobody can connect, and programs that run end. */
  down(): Promise<void>;
  up(): Promise<void>;
}

const DENIED = "permissionDenied: Full Disk Access is required to read chat.db (authorization denied)";

function control(socket: Socket, message: { readonly out?: string; readonly err?: string; readonly exit?: number }): void {
  if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
}

const writeJson = (socket: Socket, message: object): void => control(socket, { out: `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n` });

/** The program ends and writes nothing more. */
function end(program: Program, err?: string): void {
  control(program.socket, { ...(err === undefined ? {} : { err }), exit: 1 });
  program.isFrozen = true;
}

interface Mac extends Omit<MethodDeps, "watches"> {
  readonly asked: Asked[];
  readonly faults: Fault[];
  readonly state: { isDenied: boolean; slowMs: number };
}

/** Rows that a watch has not written yet. */
function flush({ world }: Mac, { socket, watches, isFrozen }: Program): void {
  if (isFrozen) return;
  for (const watch of watches) {
    for (const row of world.rows.filter(({ id }) => id > watch.cursor)) {
      watch.cursor = row.id;
      if (row.reaction && !watch.reactions) continue;
      writeJson(socket, { method: "message", params: { subscription: watch.subscription, message: messageOf(row, watch) } });
    }
  }
}

async function answer(mac: Mac, program: Program, line: string): Promise<void> {
  const { id, method, params = {} } = JSON.parse(line) as { id?: number; method: string; params?: Record<string, unknown> };
  const { socket } = program;
  if (program.isFrozen) return;
  mac.asked.push({ method, params });
  if (mac.state.slowMs > 0) await delay(mac.state.slowMs);
  const at = mac.faults.findIndex(({ on }) => on === method);
  const [fault] = at < 0 ? [] : mac.faults.splice(at, 1);
  try {
    const result = !fault || fault.applied ? call(method, params, { ...mac, watches: program.watches }) : undefined;
    if (fault?.outcome === "exit") return end(program);
    if (fault?.outcome === "silent") return;
    if (fault?.outcome === "garbage") return (control(socket, { out: "<html>\n{}\n[1]\n" }), writeJson(socket, { id, result: "?" }));
    if (fault) throw fault.outcome;
    writeJson(socket, { id, result });
    flush(mac, program);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    writeJson(socket, { id, error: { code: error.code, message: error.message, data: error.data } });
  }
}

function serve(mac: Mac, programs: Set<Program>, started: (readonly string[])[], socket: Socket): void {
  let program: Program | undefined;
  socket.on("error", () => {});
  const lines = createInterface({ input: socket });
  // It has the errors of its input as well.
  lines.on("error", () => {});
  lines.on("line", (line) => {
    if (program) {
      const current = program;
      current.work = current.work.then(() => answer(mac, current, line));
      return;
    }
    const { args } = JSON.parse(line) as { args: string[] };
    started.push(args);
    program = { args, socket, watches: [], isFrozen: false, work: Promise.resolve() };
    programs.add(program);
    if (mac.state.isDenied || args.some((arg) => arg.includes("denied"))) {
      mac.asked.push({ method: "denied", params: {} });
      end(program, `${DENIED}\n`);
    }
    socket.on("close", () => programs.delete(program!));
  });
  // Its input was closed.
  socket.on("end", () => {
    control(socket, { exit: 0 });
    socket.end();
  });
}

function writePrograms(folder: string, mac: string): { readonly cliPath: string; readonly bin: string; readonly log: string } {
  const bin = join(folder, "bin");
  const log = join(folder, "calls.log");
  mkdirSync(bin);
  const program = (path: string, body: string): string => {
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const node = JSON.stringify(process.execPath);
  const cliPath = program(join(folder, "imsg"), `exec ${node} ${JSON.stringify(script("imsg.mjs"))} "$@"`);
  // Options first, then the host, then the command.
  program(
    join(bin, "ssh"),
    `printf '["ssh","%s"]\\n' "$*" >> ${JSON.stringify(log)}\nwhile [ "\${1#-}" != "$1" ]; do shift; done\nshift 2\nexec ${JSON.stringify(cliPath)} "$@"`,
  );
  program(join(bin, "scp"), `exec ${node} ${JSON.stringify(script("scp.mjs"))} --root ${JSON.stringify(mac)} --log ${JSON.stringify(log)} "$@"`);
  return { cliPath, bin, log };
}

const listen = (server: Server, path: string): Promise<void> => new Promise((resolve) => void server.listen(path, resolve));

/** `remote`: the Mac is another machine, reached with `ssh` and `scp`; its files are in a folder of their own. */
export async function startMessages({ remote = false }: { readonly remote?: boolean } = {}): Promise<FakeMessages> {
  const folder = mkdtempSync(join(tmpdir(), "imsg-"));
  const root = remote ? join(folder, "mac") : "/";
  const attachments = remote ? "/Users/claw/Library/Messages/Attachments" : join(folder, "Attachments");
  const { bin, log, cliPath } = writePrograms(folder, root);
  const dbPath = join(folder, "chat.db");
  const programs = new Set<Program>();
  const started: (readonly string[])[] = [];
  const world = createWorld({ folder: attachments, root }, () => {
    for (const program of programs) flush(mac, program);
  });
  const mac: Mac = { world, root, features: { bridge: true, ids: true }, asked: [], faults: [], state: { isDenied: false, slowMs: 0 } };
  const sockets = [`${dbPath}.sock`, `${join(folder, "denied.db")}.sock`];
  let servers: Server[] = [];
  const drop = (): void => {
    for (const program of programs) end(program);
  };
  async function up(): Promise<void> {
    servers = sockets.map(() => createServer({ allowHalfOpen: true }, (socket) => serve(mac, programs, started, socket)));
    await Promise.all(servers.map((server, n) => listen(server, sockets[n]!)));
  }
  async function down(): Promise<void> {
    const closed = servers.map((server) => new Promise((resolve) => void server.close(resolve)));
    drop();
    await Promise.all(closed);
  }
  await up();
  const { direct, group, say, react, rows, chats, add } = world;
  return {
    folder,
    cliPath,
    dbPath,
    attachments,
    bin,
    direct,
    group,
    say,
    react,
    rows,
    chats,
    add,
    started,
    drop,
    down,
    up,
    asked: mac.asked,
    features: mac.features,
    faults: mac.faults,
    calls: () => (existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : []).map((line) => JSON.parse(line) as string[]),
    sayAsOwner: (chat, text) => add({ chat, text, isFromMe: true, sender: "" }),
    redeliver(row) {
      for (const { socket, watches } of programs)
        for (const watch of watches) writeJson(socket, { method: "message", params: { subscription: watch.subscription, message: messageOf(row, watch) } });
    },
    write(text) {
      for (const { socket } of programs) control(socket, { out: text });
    },
    deny(isDenied) {
      mac.state.isDenied = isDenied;
      if (!isDenied) return;
      for (const program of programs) end(program, `${DENIED}\n`);
    },
    slow(ms) {
      mac.state.slowMs = ms;
    },
    running: () => programs.size,
    freeze() {
      for (const program of programs) program.isFrozen = true;
    },
    async [Symbol.asyncDispose]() {
      await down();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
