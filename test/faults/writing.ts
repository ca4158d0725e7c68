import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { StoreFailure } from "../../src/store/index.ts";
import { ROOT } from "../harness/gateway-process.ts";
import { STORE_URL } from "../harness/program.ts";

/** How a writer ended, in its own words. */
export interface WriterEnd {
  /** Number of writers by the code that ended them. */
  readonly refused: Readonly<Record<string, number>>;
  readonly messages: readonly string[];
  /** The error of a write after the end. */
  readonly late: string;
  readonly state: string;
  readonly failure: StoreFailure | undefined;
  readonly diskFull: boolean;
  /** From SIGTERM to the closed store; 0 without one. */
  readonly closeMs: number;
}

export interface Writing {
  readonly child: ChildProcess;
  /** Resolves when something was acknowledged. */
  readonly begun: Promise<unknown>;
  readonly ended: Promise<{
    readonly code: number | null;
    readonly end: WriterEnd | undefined;
    readonly errors: string;
    /** The last acknowledged number of each writer. */
    readonly acknowledged: ReadonlyMap<string, number>;
    readonly total: number;
  }>;
}

export interface WritingOptions {
  readonly writers: number;
  readonly wrap?: readonly string[];
  /** Text per entry. */
  readonly bytes?: number;
}

function acknowledgedIn(output: string): Map<string, number> {
  const last = new Map<string, number>();
  for (const [, writer, n] of output.matchAll(/^(\d+) (\d+)$/gm)) last.set(writer!, Math.max(last.get(writer!) ?? 0, Number(n)));
  return last;
}

/** Starts a process that writes to a store until it is refused or stopped. */
export function startWriting(stateDir: string, { writers, wrap = [], bytes = 40 }: WritingOptions): Writing {
  const line = [...wrap, process.execPath, join(ROOT, "test/faults/writer.ts"), STORE_URL, stateDir, String(writers), String(bytes)];
  const child = spawn(line[0]!, line.slice(1), { env: { PATH: process.env["PATH"] }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (output += String(chunk)));
  child.stderr.on("data", (chunk) => (errors += String(chunk)));
  const ended = once(child, "close").then(([code]) => {
    const said = /^end (.*)$/m.exec(output)?.[1];
    const acknowledged = acknowledgedIn(output);
    const total = [...acknowledged.values()].reduce((sum, n) => sum + n, 0);
    return { code: code as number | null, end: said === undefined ? undefined : (JSON.parse(said) as WriterEnd), errors, acknowledged, total };
  });
  return { child, begun: Promise.race([once(child.stdout, "data"), ended]), ended };
}
