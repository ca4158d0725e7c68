import { AppError } from "../../../base/errors.ts";
import { formatDuration } from "../../../base/text.ts";
import { knownTokens, modelOverride, queueSettings, reasoningLevel, thinkingLevel, verboseLevel } from "../../../sessions/index.ts";
import { defineTool } from "../../declaration.ts";
import { textOutcome } from "../../tool.ts";
import type { SessionModel, SessionToolsDeps } from "./deps.ts";
import { agentsMayMeet, failure, findTarget, forbidden, isClamped, refusal, shownKey, type Target } from "./visibility.ts";

/** How a session is: its model, its tokens, its settings, and the time. */
export const sessionStatusTool = defineTool<SessionToolsDeps>({
  name: "session_status",
  groups: ["sessions", "openclaw"],
  reach: {},
  promptLine: "model, usage, settings and the current time",
  icon: "📊",
  profiles: ["minimal", "messaging"],
  inSandbox: "allowed",
  subagents: "never",
  label: "Session Status",
  description:
    "Show the status of a session: time, model, tokens, context, settings. Answers which model is in use and what time it is. With model it chooses another one for the session; default goes back to the configured one.",
  parameters: {
    type: "object",
    properties: {
      sessionKey: { type: "string", description: "Key or id of a session; this one when absent" },
      model: { type: "string", description: "provider/model or an alias for this session; default clears it" },
    },
  },
  idempotent: true,
  run:
    (deps) =>
    async ({ params, context }) => {
      const text = (key: string): string => (typeof params[key] === "string" ? params[key].trim() : "");
      const written = text("sessionKey") || context.sessionKey;
      const target = await findTarget(deps, context, written);
      if (!target) return failure(`"${written.slice(0, 200)}" is not a session key; sessions_list shows the keys.`);
      const wanted = text("model");
      const why = await readRefusal(deps, context, target, wanted !== "");
      if (why !== undefined) return forbidden(why);
      if (!target.row) return failure(`There is no session ${shownKey(target.key)}; sessions_list shows the keys.`);
      let changedModel = false;
      if (wanted !== "") {
        try {
          await deps.models.setModel(target.key, wanted.toLowerCase() === "default" ? "default" : wanted);
        } catch (error) {
          if (error instanceof AppError && error.code === "INVALID_INPUT") return failure(error.message);
          throw error;
        }
        changedModel = true;
      }
      const row = (await deps.store.read("sessions.get", { key: target.key })) ?? target.row;
      const statusText = await statusCard(deps, { ...target, row });
      return textOutcome(statusText, { ok: true, sessionKey: shownKey(target.key), changedModel, statusText });
    },
});

/**
 * Sessions of the same agent can be looked at whatever `tools.sessions.visibility` says; a sandboxed session is held to what it began. To choose a
 * model for a session, it has to be visible.
 */
async function readRefusal(
  deps: SessionToolsDeps,
  caller: { readonly agentId: string; readonly sessionKey: string },
  target: Target,
  changes: boolean,
): Promise<string | undefined> {
  if (target.key === caller.sessionKey) return undefined;
  if (changes || isClamped(deps.config(), caller, deps.isSandboxed)) return refusal(deps, caller, target);
  if (agentsMayMeet(deps.config(), caller.agentId.toLowerCase(), target.agentId)) return undefined;
  return "Sessions of that agent are not accessible: tools.agentToAgent must be enabled and allow both agents.";
}

type Present = Target & { readonly row: NonNullable<Target["row"]> };

/** The lines of the card, each only when it is known. */
async function statusCard(deps: SessionToolsDeps, { key, agentId, row: { entry } }: Present): Promise<string> {
  const { clock, version, models, store } = deps;
  const config = deps.config();
  const override = modelOverride(entry);
  const model = await models.describe({ agentId, override });
  const { total: children } = await store.read("sessions.list", { spawnedBy: key, limit: 1 });
  const think = thinkingLevel(config, entry, { modelDefault: model.thinking ?? "off" }).value;
  const runtime = deps.isSandboxed({ agentId, sessionKey: key }) ? "sandbox" : "direct";
  const levels = [`think ${think}`, `verbose ${verboseLevel(config, entry).value}`, `reasoning ${reasoningLevel(entry).value}`];
  if (typeof entry["elevatedLevel"] === "string") levels.push(`elevated ${entry["elevatedLevel"]}`);
  const activation = typeof entry["groupActivation"] === "string" ? `Group activation: ${entry["groupActivation"]} · ` : "";
  const lines = [
    `OpenClaw ${version}`,
    `Time: ${timeIn(clock.now(), config.agents?.defaults?.userTimezone, config.agents?.defaults?.timeFormat)}`,
    `Model: ${[model.ref, override ? "chosen for this session" : model.why, model.auth].filter((part) => part !== undefined).join(" · ")}`,
    tokensLine(entry),
    contextLine(entry, model),
    `Session: ${shownKey(key)} · active ${formatDuration(Math.max(0, clock.now() - entry.updatedAt))} ago`,
    children > 0 ? `Subagents: ${children}` : undefined,
    `Runtime: ${[runtime, ...levels].join(" · ")}`,
    `${activation}Queue: ${queueSettings(config, entry, entry.lastChannel).mode.value}`,
  ];
  return lines.filter((line) => line !== undefined).join("\n");
}

type Entry = Present["row"]["entry"];

const count = (tokens: number): string => (tokens < 1000 ? `${tokens}` : `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k`);

function tokensLine({ inputTokens, outputTokens }: Entry): string | undefined {
  return typeof inputTokens === "number" && typeof outputTokens === "number" ? `Tokens: ${count(inputTokens)} in / ${count(outputTokens)} out` : undefined;
}

function contextLine(entry: Entry, model: SessionModel): string | undefined {
  const used = knownTokens(entry);
  const limit = model.contextWindow ?? entry.contextTokens;
  const compactions = typeof entry["compactionCount"] === "number" ? entry["compactionCount"] : 0;
  if (limit === undefined) return undefined;
  const share = typeof used === "number" ? `${count(used)} of ${count(limit)} (${Math.round((used / limit) * 100)} %)` : `of ${count(limit)}, usage unknown`;
  return `Context: ${share} · compactions ${compactions}`;
}

/** `Sun 2026-11-15 16:26 Europe/Vienna`; `04:26 pm` with a format of 12. A zone that is none is UTC. */
function timeIn(now: number, zone = "UTC", timeFormat: "auto" | "12" | "24" = "auto"): string {
  const at = (timeZone: string): string => {
    const format = new Intl.DateTimeFormat("en-GB", {
      timeZone,
      weekday: "short",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      hourCycle: timeFormat === "12" ? "h12" : "h23",
    });
    const parts = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]));
    return `${parts["weekday"]} ${parts["year"]}-${parts["month"]}-${parts["day"]} ${parts["hour"]}:${parts["minute"]}${parts["dayPeriod"] === undefined ? "" : ` ${parts["dayPeriod"]}`} ${timeZone}`;
  };
  try {
    return at(zone.trim() || "UTC");
  } catch {
    return at("UTC");
  }
}
