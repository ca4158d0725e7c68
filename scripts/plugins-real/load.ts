import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { PluginDiagnostic, PluginStatus } from "../../src/plugins/index.ts";

/** What came of loading a plugin. */
export interface Loaded {
  readonly status?: PluginStatus | undefined;
  readonly diagnostics: readonly PluginDiagnostic[];
  /** The process ended by itself, or took too long. */
  readonly crash?: string | undefined;
}

const CHILD = fileURLToPath(new URL("child.ts", import.meta.url));
const PATIENCE_MS = 60_000;
const MARK = "\u0001plugins-real\u0001";

/** Loads a plugin in a process of its own: whatever it does there is over afterwards. */
export async function loadInChild({ id, path }: { readonly id: string; readonly path: string }): Promise<Loaded> {
  const child = spawn(process.execPath, [CHILD, path, id, MARK], { stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => (stdout += String(chunk)));
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  clearTimeout(timer);
  const answer = stdout.split(MARK)[1];
  if (answer === undefined) return { diagnostics: [], crash: `${signal ?? `exit code ${code}`}: ${stderr.trim().split("\n").slice(-3).join(" ")}` };
  return JSON.parse(answer) as Loaded;
}
