import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { STREAMS } from "../fakes/model-server/index.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { programArguments, type Build } from "../harness/program.ts";

/** What users run. */
export const BUILD: Build = (process.env["OPENCLAW_TEST_BUILD"] as Build | undefined) ?? "dist";

type Json = Record<string, unknown>;

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A home of its own, and what the setup left in it. */
export interface SetupHome extends Place {
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
  /** `onboard --non-interactive --accept-risk` and these. */
  onboard(...args: readonly string[]): Promise<Ended>;
  /** The configuration file's text; undefined when there is none. */
  text(): string | undefined;
  config(): Json;
  /** Stored credentials by profile id. */
  profiles(): Record<string, Json>;
}

/** What stands in a place. */
export function homeOf(place: Place): Pick<SetupHome, "text" | "profiles"> & { /** Of a file with remarks in its first line. */ parsed(): Json } {
  const text = (): string | undefined => (existsSync(place.configPath) ? readFileSync(place.configPath, "utf8") : undefined);
  const store = join(place.stateDir, "agents/main/agent/auth-profiles.json");
  return {
    text,
    parsed: () => JSON.parse((text() ?? "{}").replace(/^\/\/.*\n/, "")) as Json,
    profiles: () => (existsSync(store) ? (JSON.parse(readFileSync(store, "utf8")) as { profiles: Record<string, Json> }).profiles : {}),
  };
}

export function setupHome(): SetupHome {
  const place = makePlace();
  onTestFinished(() => rmSync(place.home, { recursive: true, force: true }));
  const { text, parsed, profiles } = homeOf(place);
  const run: SetupHome["run"] = async (args, env = {}) => {
    const child = spawn(process.execPath, [...programArguments(BUILD), ...args], {
      cwd: place.home,
      env: { ...place.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const written = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => (written.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (written.stderr += chunk.toString()));
    const [code] = (await once(child, "close")) as [number];
    return { code, ...written };
  };
  return {
    ...place,
    run,
    onboard: (...args) => run(["onboard", "--non-interactive", "--accept-risk", ...args]),
    text,
    config: parsed,
    profiles,
  };
}

/** The value at a dotted path. */
export const at = (value: unknown, path: string): unknown => path.split(".").reduce<unknown>((inner, key) => (inner as Json | undefined)?.[key], value);

export const REFUSES = { kind: "status", status: 401, body: { error: { message: "Incorrect API key provided" } } } as const;
export const answers = (api: string) => ({ kind: "stream", frames: STREAMS[api]!({ text: ["OK"] }) }) as const;
