import type { PluginStatus } from "../../src/plugins/index.ts";
import type { Fetched } from "./fetch.ts";
import type { Loaded } from "./load.ts";

/** Names that a plugin must register at least. */
export interface Expected {
  readonly registers?: Readonly<Record<string, readonly string[] | number>>;
  /** False: it needs packages that are not there, also in the reference system. */
  readonly loadsBare?: boolean;
  /** Packages that the reference system happens to have and the plugin does not bring: the one error names one of them. */
  readonly hostPackages?: readonly string[];
}

export interface Verdict {
  readonly id: string;
  readonly from: string;
  readonly integrity: string;
  readonly ok: boolean;
  readonly status: "loaded" | "one error" | "wrong";
  readonly text: string;
  readonly registers?: Readonly<Record<string, readonly string[] | number>>;
}

const LISTS = {
  tools: "toolNames",
  hooks: "hookNames",
  services: "services",
  cliCommands: "cliCommands",
  channels: "channelIds",
  providers: "providerIds",
  commands: "commands",
  gatewayMethods: "gatewayMethods",
} as const satisfies Readonly<Record<string, keyof PluginStatus>>;

function registered(status: PluginStatus): Record<string, readonly string[] | number> {
  const lists = Object.entries(LISTS).map(([name, key]) => [name, status[key]] as const);
  return Object.fromEntries([...lists, ["httpHandlers", status.httpHandlers] as const, ["typedHooks", status.hookCount] as const]);
}

const isSome = (value: readonly string[] | number): boolean => (typeof value === "number" ? value > 0 : value.length > 0);
const shown = (value: readonly string[] | number): string => (typeof value === "number" ? String(value) : value.join(" "));

function missing(wanted: Expected["registers"], found: Readonly<Record<string, readonly string[] | number>>): string[] {
  return Object.entries(wanted ?? {}).flatMap(([kind, value]) => {
    const there = found[kind] ?? [];
    if (typeof value === "number") return typeof there === "number" && there >= value ? [] : [`${kind} ${value}`];
    return value.filter((name) => typeof there === "number" || !there.includes(name)).map((name) => `${kind} ${name}`);
  });
}

/** Whether it did as is expected of it. */
export function judge({ id, from, integrity }: Fetched, expected: Expected, { status, diagnostics, crash }: Loaded): Verdict {
  const facts = { id, from, integrity };
  if (crash !== undefined || !status) return { ...facts, ok: false, status: "wrong", text: crash ?? "it was not found" };
  const errors = diagnostics.filter(({ level }) => level === "error").map(({ message }) => message);
  if (status.status !== "loaded") {
    const lacks = expected.hostPackages?.some((name) => errors[0]?.includes(JSON.stringify(name))) ?? false;
    const fine = errors.length === 1 && (expected.loadsBare !== true || lacks);
    return { ...facts, ok: fine, status: fine ? "one error" : "wrong", text: errors.join(" | ") || "it is not loaded, and nothing says why" };
  }
  const registers = registered(status);
  const lacking = missing(expected.registers, registers);
  const text = Object.entries(registers)
    .filter(([name, value]) => isSome(value) && name !== "typedHooks")
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join("; ");
  if (lacking.length > 0 || errors.length > 0)
    return { ...facts, ok: false, status: "wrong", text: [...lacking.map((name) => `lacks ${name}`), ...errors].join(" | "), registers };
  return { ...facts, ok: true, status: "loaded", text, registers };
}
