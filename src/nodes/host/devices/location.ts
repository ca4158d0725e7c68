import { basename } from "node:path";
import { AppError, messageOf } from "../../../base/errors.ts";
import { inheritedEnvironment } from "../../../base/inherited-environment.ts";
import { isRecord } from "../../../base/records.ts";
import { run } from "../../../base/spawn.ts";
import { clip } from "../../../base/text.ts";
import { HostError } from "../host-error.ts";
import type { HostCall } from "../run-command.ts";
import { fieldsOf, findProgram, invalid, numberIn, oneAtATime, turnedOff, unavailable, type Device, type DeviceDeps } from "./device.ts";

export interface Position {
  readonly lat: number;
  readonly lon: number;
  readonly accuracyMeters?: number;
  readonly altitudeMeters?: number;
  readonly speedMps?: number;
  readonly headingDeg?: number;
}

type Accuracy = "coarse" | "balanced" | "precise";

/** A program that prints where this machine is. */
interface Source {
  readonly text: string;
  readonly program: string;
  args(accuracy: Accuracy, timeoutMs: number): readonly string[];
}

const DEFAULT_MS = 10_000;
const MOST_MS = 60_000;
const PRECISE_METERS = 100;
const MOST_OUTPUT = 65_536;
/** geoclue's example program, where distributions put it. */
const WHERE_AM_I = ["where-am-i", "/usr/libexec/geoclue-2.0/demos/where-am-i", "/usr/lib/geoclue-2.0/demos/where-am-i"];
/** geoclue's levels: city, street, exact. */
const LEVELS: Readonly<Record<Accuracy, string>> = { coarse: "4", balanced: "6", precise: "8" };

const numberOf = (value: unknown): number | undefined => {
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
};

/** The last of several positions counts. A program prints JSON, or lines as geoclue's does. */
export function positionIn(output: string): Position | undefined {
  const fields =
    jsonIn(output) ??
    Object.fromEntries(
      [...output.matchAll(/^\s*(\w+):\s*(-?\d+(?:[.,]\d+)?)/gm)].map(([, name = "", value = ""]) => [name.toLowerCase(), value.replace(",", ".")]),
    );
  const first = (...names: readonly string[]): number | undefined => names.map((name) => numberOf(fields[name])).find((value) => value !== undefined);
  const [lat, lon] = [first("lat", "latitude"), first("lon", "lng", "longitude")];
  if (lat === undefined || lon === undefined || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined;
  const more = {
    accuracyMeters: first("accuracyMeters", "accuracy", "h_accuracy"),
    altitudeMeters: first("altitudeMeters", "altitude"),
    speedMps: first("speedMps", "speed"),
    headingDeg: first("headingDeg", "heading", "bearing", "direction"),
  };
  // Programs print a negative number for what they do not know.
  const known = Object.entries(more).filter(([name, value]) => value !== undefined && (name === "altitudeMeters" || value >= 0));
  return { lat, lon, ...(Object.fromEntries(known) as Partial<Position>) };
}

function jsonIn(output: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(output);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function sourceFor(deps: DeviceDeps): Source | string {
  const { config, platform } = deps;
  const [word, ...args] = config().nodeHost?.location?.command ?? [];
  if (word !== undefined) {
    const program = findProgram(word, deps);
    return program === undefined ? `${word} (nodeHost.location.command) is not installed` : { text: word, program, args: () => args };
  }
  if (platform === "darwin") {
    const program = findProgram("CoreLocationCLI", deps);
    return program === undefined ? "CoreLocationCLI is not installed" : { text: "CoreLocationCLI", program, args: () => ["--json"] };
  }
  if (platform !== "linux") return "set nodeHost.location.command to a program that prints the position";
  const program = WHERE_AM_I.map((name) => findProgram(name, deps)).find((found) => found !== undefined);
  if (program === undefined) return "geoclue's where-am-i is not installed; it is in the package geoclue-2-demo, or set nodeHost.location.command";
  const seconds = (timeoutMs: number): string => String(Math.max(1, Math.ceil(timeoutMs / 1000)));
  return { text: "geoclue", program, args: (accuracy, timeoutMs) => ["-t", seconds(timeoutMs), "-a", LEVELS[accuracy]] };
}

interface Asked {
  readonly accuracy: Accuracy;
  readonly timeoutMs: number;
}

/** Runs the program until it has printed a position: some go on after that. */
async function locate({ program, args }: Source, { accuracy, timeoutMs }: Asked, { env }: DeviceDeps, signal: AbortSignal): Promise<Position> {
  const enough = new AbortController();
  let output = "";
  let found: Position | undefined;
  const onOutput = (stream: "stdout" | "stderr", chunk: Buffer): void => {
    if (stream === "stderr") return;
    output += chunk.toString("utf8");
    // A line that is not complete may have half a number.
    found = positionIn(output.slice(0, output.lastIndexOf("\n") + 1));
    if (found && /accuracy/i.test(output)) enough.abort();
  };
  try {
    const options = { env: inheritedEnvironment(env), timeoutMs, maxOutputBytes: MOST_OUTPUT, signal: AbortSignal.any([signal, enough.signal]), onOutput };
    const { code, stdout, stderr } = await run(program, { args: args(accuracy, timeoutMs), ...options });
    found = positionIn(stdout);
    if (found && code === 0) return found;
    const reason = stderr.trim().split("\n").at(-1) || (code === 0 ? "it printed no position" : `it ended with code ${code}`);
    throw new HostError(
      /denied|not authorized|disabled/i.test(reason) ? "LOCATION_PERMISSION_REQUIRED" : "LOCATION_UNAVAILABLE",
      `${basename(program)}: ${clip(reason, 300)}`,
    );
  } catch (error) {
    if (found && !signal.aborted) return found;
    if (error instanceof HostError) throw error;
    const isLate = error instanceof AppError && error.code === "TIMEOUT";
    throw new HostError(isLate ? "LOCATION_TIMEOUT" : "LOCATION_UNAVAILABLE", isLate ? `no position within ${timeoutMs} ms` : messageOf(error));
  }
}

/** `location.get`. */
export function locationDevice(deps: DeviceDeps): Device {
  if (deps.config().nodeHost?.location?.enabled !== true) return turnedOff("location");
  const source = sourceFor(deps);
  if (typeof source === "string") return unavailable("location", `not available here: ${source}`);
  const found = source;
  let last: { readonly at: number; readonly position: Position } | undefined;

  async function get({ params, signal }: HostCall): Promise<unknown> {
    const fields = fieldsOf(params);
    const { desiredAccuracy = "balanced" } = fields;
    if (desiredAccuracy !== "coarse" && desiredAccuracy !== "balanced" && desiredAccuracy !== "precise")
      throw invalid("desiredAccuracy must be coarse, balanced or precise");
    const timeoutMs = numberIn(fields, "timeoutMs", { least: 1, most: MOST_MS, fallback: DEFAULT_MS });
    const maxAgeMs = numberIn(fields, "maxAgeMs", { least: 0, most: Number.MAX_SAFE_INTEGER, fallback: 0 });
    const now = deps.clock.now();
    if (!last || now - last.at > maxAgeMs || maxAgeMs === 0)
      last = { position: await locate(found, { accuracy: desiredAccuracy, timeoutMs }, deps, signal), at: deps.clock.now() };
    const { position, at } = last;
    const isPrecise = position.accuracyMeters !== undefined && position.accuracyMeters <= PRECISE_METERS;
    return { ...position, timestamp: new Date(at).toISOString(), isPrecise, source: found.text };
  }

  return { name: "location", text: source.text, commands: [["location.get", oneAtATime("location")(get)]] };
}
