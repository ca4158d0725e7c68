/** A real IRC server: ngIRCd, as Debian packages it. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../harness/free-port.ts";

export interface NgircdOptions {
  /** Clients have to give it. */
  readonly password?: string;
  /** Listens with a certificate of its own, for `localhost`. */
  readonly tls?: boolean;
  /** Longest name; servers differ. Default 30. */
  readonly maxNickLength?: number;
  /** Seconds of silence after which it asks. Default 120. */
  readonly pingTimeout?: number;
}

export interface Ngircd extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** Of the server's own certificate; only with `tls`. */
  readonly ca: string | undefined;
  readonly caFile: string | undefined;
  /** Ends it, as a machine that is switched off. */
  stop(): Promise<void>;
  /** After `stop`, on the same port. */
  start(): Promise<void>;
  output(): string;
}

const PROGRAM = "ngircd";
const OPENSSL = "openssl";
/** Debian has it where only root looks. */
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;

function certificate(folder: string): { readonly key: string; readonly cert: string } {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const made = spawnSync(OPENSSL, ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...subject], {
    encoding: "utf8",
  });
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${made.stderr}`);
  return { key, cert };
}

function configOf(options: NgircdOptions, port: number, folder: string, tls: { readonly key: string; readonly cert: string } | undefined): string {
  const lines = [
    "[Global]",
    "Name = irc.test.invalid",
    "Info = A server of a test",
    "Listen = 127.0.0.1",
    // It refuses to have no plain port, so that one is not known to anybody.
    `Ports = ${tls ? "0" : port}`,
    "MotdPhrase = Hello",
    `PidFile = ${join(folder, "pid")}`,
    ...(options.password === undefined ? [] : [`Password = ${options.password}`]),
    // It would switch to another user, who may not read the folder.
    ...(process.getuid?.() === 0 ? ["ServerUID = root", "ServerGID = root"] : []),
    "[Limits]",
    "MaxConnections = 0",
    "MaxConnectionsIP = 0",
    "MaxJoins = 0",
    "MaxPenaltyTime = 0",
    `MaxNickLength = ${options.maxNickLength ?? 30}`,
    `PingTimeout = ${options.pingTimeout ?? 120}`,
    "PongTimeout = 20",
    "[Options]",
    "DNS = no",
    "Ident = no",
    "PAM = no",
    "SyslogFacility = local1",
    ...(tls ? ["[SSL]", `CertFile = ${tls.cert}`, `KeyFile = ${tls.key}`, `Ports = ${port}`] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** Resolves when the port accepts connections. */
function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port });
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

/** Starts a server that holds nothing back and knows nobody. */
export async function startNgircd(options: NgircdOptions = {}): Promise<Ngircd> {
  const folder = mkdtempSync(join(tmpdir(), "ngircd-"));
  const tls = options.tls ? certificate(folder) : undefined;
  const port = await freePort();
  const config = join(folder, "ngircd.conf");
  writeFileSync(config, configOf(options, port, folder, tls));
  let child: ChildProcess | undefined;
  let output = "";

  async function start(): Promise<void> {
    const mine = spawn(PROGRAM, ["--nodaemon", "--config", config], { stdio: ["ignore", "pipe", "pipe"], env: { PATH } });
    child = mine;
    for (const stream of [mine.stdout, mine.stderr]) stream.on("data", (part) => void (output += String(part)));
    while (!(await listens(port))) {
      if (mine.exitCode !== null) throw new Error(`ngircd did not start:\n${output}`);
      await new Promise((resolve) => void setTimeout(resolve, 20));
    }
  }

  async function stop(): Promise<void> {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    child = undefined;
  }

  try {
    await start();
  } catch (error) {
    await stop();
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    host: tls ? "localhost" : "127.0.0.1",
    port,
    ca: tls && readFileSync(tls.cert, "utf8"),
    caFile: tls?.cert,
    stop,
    start,
    output: () => output,
    async [Symbol.asyncDispose]() {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
