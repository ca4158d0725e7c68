import { duration, money, plural } from "../../base/figures.ts";
import type { Step } from "./story-rows.ts";
import { locale, t } from "../../words/words.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What a tool was called with, as the gateway tells it: bounded and without secrets. */
export interface Asked {
  readonly line: string;
  /** A command as it was given, otherwise JSON. */
  readonly text: string;
  readonly command: boolean;
}

/** What a tool gave, or how it begins. */
export interface Gave {
  readonly text: string;
  readonly chars: number;
  readonly cut: boolean;
  /** `Exit code 3`, `Signal SIGTERM`, `2 pictures`; `isEnd` of how a command ended. */
  readonly notes: readonly { readonly text: string; readonly isEnd: boolean }[];
  readonly failed: boolean;
  /** Where all of it can be asked for. */
  readonly seq: number | undefined;
}

const fieldsOf = (value: unknown): Fields => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {});
const words = (value: unknown): string => (typeof value === "string" ? value : "");
const figure = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);

export function askedOf({ kind, details }: Step): Asked | undefined {
  const asked = fieldsOf(details?.["asked"]);
  if (kind !== "tool" || asked["arguments"] === undefined) return undefined;
  const args = asked["arguments"];
  const fields = fieldsOf(args);
  const command = words(fields["command"]);
  const line = words(asked["line"]);
  if (command !== "" && Object.keys(fields).length === 1) return { line, text: command, command: true };
  return { line, text: typeof args === "string" ? args : JSON.stringify(args, undefined, 2), command: false };
}

export function gaveOf({ kind, details }: Step): Gave | undefined {
  if (kind !== "tool" || details?.["gave"] === undefined) return undefined;
  const { text, chars, cut, exitCode, signal, pictures, seq } = fieldsOf(details["gave"]);
  const [code, count] = [figure(exitCode), figure(pictures) ?? 0];
  const notes = [
    ...(code === undefined ? [] : [{ text: t`Exit code ${code}`, isEnd: true }]),
    ...(words(signal) === "" ? [] : [{ text: t`Signal ${words(signal)}`, isEnd: true }]),
    ...(count === 0 ? [] : [{ text: plural(count, t("picture"), t("pictures")), isEnd: false }]),
  ];
  return { text: words(text), chars: figure(chars) ?? 0, cut: cut === true, notes, failed: (code ?? 0) !== 0 || words(signal) !== "", seq: figure(seq) };
}

const STOPS: Readonly<Record<string, string>> = {
  stop: t("Done"),
  toolUse: t("Tool call"),
  length: t("Length limit"),
  error: "Error",
  aborted: t("Stopped"),
};

const DECISIONS: Readonly<Record<string, string>> = {
  ok: t("No effect"),
  ignored: t("Result ignored"),
  failed: t("Failed"),
  timeout: t("Timed out"),
  skipped: t("Skipped"),
  decided: t("Decided"),
};

const whole = (value: unknown): string | undefined => figure(value)?.toLocaleString(locale);

function modelFacts(details: Fields): readonly (readonly [string, string | undefined])[] {
  const { provider, model, input, output, cacheRead, cacheWrite, cost, stopReason, failed } = details;
  const cached = (figure(cacheRead) ?? 0) + (figure(cacheWrite) ?? 0) > 0;
  const stop = words(stopReason);
  return [
    [t("Provider"), words(provider)],
    [t("Model"), words(model)],
    ...(failed === true ? [] : ([[t("Tokens in"), whole(input)]] as const)),
    ...(cached
      ? ([
          [t("From cache"), whole(cacheRead)],
          [t("To cache"), whole(cacheWrite)],
        ] as const)
      : []),
    ...(failed === true ? [] : ([[t("Tokens out"), whole(output)]] as const)),
    [t("Cost"), figure(cost) === undefined || (failed === true && cost === 0) ? undefined : money(figure(cost)!)],
    [t("Stop reason"), stop === "" ? undefined : (STOPS[stop] ?? stop)],
  ];
}

/** What is known of a step under names for people; what has no such name stays as it is. */
export function factsOf({ kind, details }: Step): readonly (readonly [string, string])[] {
  const fields = fieldsOf(details);
  const facts =
    kind === "model"
      ? modelFacts(fields)
      : kind === "attempt"
        ? [
            [t("Provider"), words(fields["provider"])] as const,
            [t("Model"), words(fields["model"])] as const,
            [t("Outcome"), words(fields["outcome"])] as const,
          ]
        : kind === "hook"
          ? [
              [t("Plugin"), words(fields["pluginId"])] as const,
              [t("Hook"), words(fields["hook"])] as const,
              [t("Decision"), DECISIONS[words(fields["decision"])] ?? words(fields["decision"])] as const,
              [t("Message"), words(fields["said"])] as const,
            ]
          : [];
  return facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined && fact[1] !== "");
}

const SAID: Readonly<Record<string, readonly string[]>> = {
  model: ["provider", "model", "input", "output", "cacheRead", "cacheWrite", "cost", "stopReason", "failed", "firstMs"],
  attempt: ["provider", "model", "outcome", "error", "firstMs"],
  hook: ["pluginId", "hook", "decision", "said"],
  tool: ["name", "asked", "gave", "isError", "unknown"],
  queue: ["waiting", "inFront", "waitsFor", "turnId"],
};

/** What remains to be shown of a step beside `factsOf` and its own parts. */
export function restOf({ kind, details }: Step): Fields {
  const said = new Set(SAID[kind] ?? ["firstMs"]);
  return Object.fromEntries(Object.entries(fieldsOf(details)).filter(([name]) => !said.has(name)));
}

/** An attempt that failed, in one line: who, after how long, and why. */
export function attemptText({ ms, details }: Step): { readonly who: string; readonly what: string } {
  const { provider, model, outcome, error } = fieldsOf(details);
  const took = ms === undefined ? "" : t` after ${duration(ms)}`;
  return { who: `${words(provider)}/${words(model)}`, what: `${words(outcome)}${took}${words(error) === "" ? "" : `: ${words(error)}`}` };
}

/** Messages that one in a queue waits for, as they are asked for. */
export function waitsFor({ kind, details }: Step): readonly string[] {
  const named = kind === "queue" ? details?.["waitsFor"] : undefined;
  return Array.isArray(named) ? named.filter((one): one is string => typeof one === "string") : [];
}
