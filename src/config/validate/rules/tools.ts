import { ruleIssue, type Issue, type Path } from "../issue.ts";
import { isObject } from "../../value.ts";
import { agentScopes, entriesAt, itemsAt, objectAt, valueAt, type Placed, type Rule } from "./rule.ts";
import { describeFound, quoted } from "../words.ts";

const isFilled = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

function* checkPolicy(policy: unknown, path: Path): Generator<Issue> {
  if (isObject(policy) && isFilled(policy["allow"]) && isFilled(policy["alsoAllow"])) {
    yield ruleIssue([...path, "alsoAllow"], "allow and alsoAllow exclude each other; put everything into allow, or use a profile with alsoAllow");
  }
}

function* toolScopes(config: unknown): Generator<Placed<Record<string, unknown>>> {
  const tools = objectAt(config, "tools");
  if (tools) yield { path: ["tools"], value: tools };
  for (const { path } of itemsAt(config, "agents", "list")) {
    const own = objectAt(config, ...path, "tools");
    if (own) yield { path: [...path, "tools"], value: own };
  }
}

/** Channels have policies in groups, chat rooms and senders, wherever their plugin puts them. */
function* channelPolicies(value: unknown, path: Path): Generator<Issue> {
  if (!isObject(value)) return;
  for (const [key, child] of Object.entries(value)) {
    if (key === "tools") yield* checkPolicy(child, [...path, key]);
    else if (key === "toolsBySender" && isObject(child))
      for (const [sender, policy] of Object.entries(child)) yield* checkPolicy(policy, [...path, key, sender]);
    else yield* channelPolicies(child, [...path, key]);
  }
}

export const oneAllowList: Rule = function* (config) {
  for (const { path, value } of toolScopes(config)) {
    yield* checkPolicy(value, path);
    for (const entry of entriesAt(config, ...path, "byProvider")) yield* checkPolicy(entry.value, entry.path);
    for (const part of ["subagents", "sandbox"]) yield* checkPolicy(valueAt(value, part, "tools"), [...path, part, "tools"]);
  }
  yield* channelPolicies(config["channels"], ["channels"]);
};

const THRESHOLDS = [
  ["warningThreshold", 10],
  ["criticalThreshold", 20],
  ["globalCircuitBreakerThreshold", 30],
] as const;

export const risingLoopThresholds: Rule = function* (config) {
  for (const scope of toolScopes(config)) {
    const loop = objectAt(scope.value, "loopDetection");
    if (!loop) continue;
    for (const [index, [key, fallback]] of THRESHOLDS.entries()) {
      const [lowerKey, lowerFallback] = THRESHOLDS[index - 1] ?? [];
      if (lowerKey === undefined) continue;
      const lower = loop[lowerKey] ?? lowerFallback;
      const upper = loop[key] ?? fallback;
      if (typeof lower !== "number" || typeof upper !== "number" || lower < upper) continue;
      // With one of the two left to its default the gateway can still raise the other.
      const areBothGiven = loop[key] !== undefined && loop[lowerKey] !== undefined;
      const at = loop[key] === undefined ? lowerKey : key;
      const message = `${key} (${upper}) must be greater than ${lowerKey} (${lower})`;
      yield ruleIssue([...scope.path, "loopDetection", at], message, areBothGiven ? "error" : "warning");
    }
  }
};

const EXEC = ["approvals", "exec"] as const;

/** A user who enabled it relies on being asked. */
export const forwardingHasRecipients: Rule = function* (config) {
  const exec = objectAt(config, ...EXEC);
  if (exec?.["enabled"] !== true) return;
  const mode = exec["mode"];
  const targets = [...itemsAt(config, ...EXEC, "targets")];
  if ((mode === "targets" || mode === "both") && targets.length === 0) {
    yield ruleIssue(
      [...EXEC, "mode"],
      `${quoted(mode)} needs approvals.exec.targets: no chat is named, so ${mode === "both" ? "only the requesting chat" : "none"} is asked`,
      "warning",
    );
  }
  for (const { path, value } of mode === "targets" || mode === "both" ? targets : []) {
    const channel = valueAt(value, "channel");
    if (typeof channel !== "string" || channel.trim() === "" || objectAt(config, "channels", channel.trim())) continue;
    yield ruleIssue([...path, "channel"], `channels.${channel.trim()} is not configured: this chat is not asked`, "warning");
  }
};

function isPattern(text: string): boolean {
  try {
    return new RegExp(text) instanceof RegExp;
  } catch {
    return false;
  }
}

export const sessionFiltersAreReadable: Rule = function* (config) {
  for (const { path, value } of itemsAt(config, ...EXEC, "sessionFilter")) {
    if (typeof value !== "string" || isPattern(value)) continue;
    yield ruleIssue(path, `${quoted(value)} is not a regular expression; it only matches keys that contain exactly these characters`, "warning");
  }
};

const isWord = (value: unknown, word: string): boolean => typeof value === "string" && value.trim().toLowerCase() === word;

/** What would open the container to the host again. */
export const sandboxStaysClosed: Rule = function* (config) {
  for (const scope of agentScopes(config)) {
    const docker = [...scope.path, "sandbox", "docker"];
    if (isWord(valueAt(config, ...docker, "network"), "host")) {
      yield ruleIssue([...docker, "network"], 'the network "host" is not allowed: it gives the sandbox the host\'s network; use "bridge" or "none"');
    }
    for (const key of ["seccompProfile", "apparmorProfile"]) {
      if (isWord(valueAt(config, ...docker, key), "unconfined")) {
        yield ruleIssue([...docker, key], '"unconfined" is not allowed: it disables the sandbox\'s protection; set a profile or remove the key');
      }
    }
    for (const bindings of [docker, [...scope.path, "sandbox", "bwrap"], [...scope.path, "sandbox", "browser"]]) {
      for (const { path, value } of itemsAt(config, ...bindings, "binds")) {
        if (typeof value === "string" && !/^(\/|[a-z]:[\\/])/i.test(value.trim())) {
          yield ruleIssue(path, `a mount must begin with an absolute folder of the host, such as /data:/data:ro; found ${describeFound(value, false)}`);
        }
      }
    }
  }
};
