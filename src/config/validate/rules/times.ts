import { parseDuration, parseSize, SHORTEST_HEARTBEAT_MS, type DurationUnit } from "../durations.ts";
import { ruleIssue, type Issue, type Path } from "../issue.ts";
import { describeFound } from "../words.ts";
import { agentScopes, objectAt, valueAt, type Rule } from "./rule.ts";

const DURATION = "a duration such as 30m, 2h or 7d";

function* checkDuration(config: unknown, path: Path, unit: DurationUnit, severity: Issue["severity"] = "error"): Generator<Issue> {
  const value = valueAt(config, ...path);
  if ((typeof value !== "string" && typeof value !== "number") || parseDuration(value, unit) !== undefined) return;
  const found = describeFound(value, false);
  yield { ...ruleIssue(path, `expected ${DURATION}, found ${found}`, severity), expected: DURATION, found };
}

function minuteOfDay(text: string, isEnd: boolean): number | undefined {
  const match = /^(\d{1,2}):(\d\d)$/.exec(text.trim());
  if (!match) return undefined;
  const [hour, minute] = [Number(match[1]), Number(match[2])];
  if (hour === 24 && minute === 0) return isEnd ? 1440 : undefined;
  return hour < 24 && minute < 60 ? hour * 60 + minute : undefined;
}

/** The platform is only asked about a name that could be one: it loads its calendar data for that, which costs more than all other checks together. */
function isTimezone(name: string): boolean {
  if (/^(user|local|utc|gmt)$/i.test(name)) return true;
  if (!/^[a-z]+(\/[a-z0-9_+-]+)+$/i.test(name)) return false;
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

function* checkHours(hours: Record<string, unknown>, path: Path): Generator<Issue> {
  for (const key of ["start", "end"] as const) {
    const value = hours[key];
    if (typeof value !== "string" || minuteOfDay(value, key === "end") !== undefined) continue;
    const more = key === "end" ? "24:00 is midnight" : "24:00 is allowed as end only";
    yield ruleIssue([...path, key], `expected a time as HH:MM (${more}), found ${describeFound(value, false)}`);
  }
  const { start, end, timezone } = hours;
  if (typeof start === "string" && typeof end === "string" && minuteOfDay(start, false) !== undefined && minuteOfDay(start, false) === minuteOfDay(end, true)) {
    yield ruleIssue([...path, "end"], "is the same as start, so that heartbeats run at every hour; leave activeHours out, or give it an end", "warning");
  }
  if (typeof timezone === "string" && timezone.trim() !== "" && !isTimezone(timezone.trim())) {
    yield ruleIssue(
      [...path, "timezone"],
      `expected user, local or an IANA time zone such as Europe/Vienna, found ${describeFound(timezone, false)}`,
      "warning",
    );
  }
}

export const heartbeatTimes: Rule = function* (config) {
  for (const scope of agentScopes(config)) {
    const path = [...scope.path, "heartbeat"];
    yield* checkDuration(config, [...path, "every"], "m");
    const every = valueAt(config, ...path, "every");
    const everyMs = typeof every === "string" || typeof every === "number" ? (parseDuration(every, "m") ?? 0) : 0;
    if (everyMs > 0 && everyMs < SHORTEST_HEARTBEAT_MS)
      yield ruleIssue([...path, "every"], `${describeFound(every, false)} is shorter than 1s: heartbeats run once a second at most`, "warning");
    const hours = objectAt(config, ...path, "activeHours");
    if (hours) yield* checkHours(hours, [...path, "activeHours"]);
  }
};

export const sessionMaintenance: Rule = function* (config) {
  yield* checkDuration(config, ["session", "maintenance", "pruneAfter"], "d");
  const path = ["session", "maintenance", "rotateBytes"];
  const size = valueAt(config, ...path);
  if ((typeof size === "string" || typeof size === "number") && parseSize(size) === undefined) {
    yield ruleIssue(path, `expected a size such as 10mb or 512kb, found ${describeFound(size, false)}`);
  }
};

/** Places where a bad duration falls back to the default at use: worth a word, not worth refusing the file. */
export const lenientDurations: Rule = function* (config) {
  yield* checkDuration(config, ["cron", "sessionRetention"], "h", "warning");
  yield* checkDuration(config, ["memory", "qmd", "update", "interval"], "m", "warning");
  yield* checkDuration(config, ["memory", "qmd", "update", "embedInterval"], "m", "warning");
  yield* checkDuration(config, ["agents", "defaults", "contextPruning", "ttl"], "m", "warning");
};
