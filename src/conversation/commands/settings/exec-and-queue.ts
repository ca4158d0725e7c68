/** `/exec` and `/queue`: several values at once. */
import {
  changeChoice,
  execSettings,
  heldExec,
  missingForCommand,
  sessionChoice,
  type ChangeVerdict,
  type ChoiceChange,
  type ExecSettings,
} from "../../../tools/index.ts";
import { queueSettings } from "../../../sessions/index.ts";
import { askerOf, grantorOf, refusalText } from "../authority.ts";
import type { Handling } from "../handling.ts";
import type { Directives } from "../parsing/directives.ts";

const EXEC_OPTIONS = "host=sandbox|gateway|node security=deny|allowlist|full ask=off|on-miss|always node=<id>";
const QUEUE_OPTIONS = "modes steer, followup, collect, steer-backlog, interrupt; debounce:<ms|s|m>, cap:<n>, drop:old|new|summarize; default";

const wrongWords = (words: readonly string[], options: string): string => `Not understood: ${words.join(" ")}. Options: ${options}.`;

export async function exec({ ports, call, key }: Handling, { change, wrong }: NonNullable<Directives["exec"]>): Promise<string> {
  if (wrong.length > 0) return wrongWords(wrong, EXEC_OPTIONS);
  if (Object.keys(change).length === 0) return execInForce({ ports, call, key });
  const verdict = await judged("exec", { ports, call, key }, { ...change });
  if (verdict.kind !== "allowed") return refused(verdict, { ports, call });
  await ports.session.patch(key, call.agentId, verdict.patch);
  const parts = Object.entries(change).map(([field, value]) => `${field.slice("exec".length).toLowerCase()}=${value}`);
  const whose = verdict.granted ? " Where this is less strict than the configuration, it applies to messages from owners only." : "";
  return `Exec for this session: ${parts.join(" ")}.${whose}`;
}

type Of = Pick<Handling, "ports" | "call" | "key">;

type Rule = Pick<ExecSettings, "host" | "security" | "ask">;
const ruleText = ({ host, security, ask }: Rule): string => `host=${host} security=${security} ask=${ask}`;

/** What holds in this session for this sender, where each part comes from, and who may change it. */
async function execInForce({ ports, call, key }: Of): Promise<string> {
  const use = choiceUse({ ports, call, key });
  const choice = sessionChoice(await ports.session.read(key));
  const held = heldExec(choice, use);
  // Without a sandbox commands run on this machine, by the rules for that.
  const applied = (settings: ExecSettings): Rule =>
    settings.host === "sandbox" && !use.sandboxed ? { host: "gateway", security: settings.hostSecurity, ask: settings.ask } : settings;
  const settings = execSettings(use.config, call.agentId, held);
  const chosen = applied(settings);
  // What runs in a sandbox is not asked about: the approvals file is for this machine and nodes.
  const stored = chosen.host === "sandbox" ? chosen : { ...chosen, ...(await ports.choice.approvals?.(call.agentId, chosen)) };
  const inForce = settings.denied ? { ...stored, security: "deny" as const } : stored;
  const names = Object.entries(choice ?? {}).flatMap(([field, value]) =>
    typeof value === "string" && field.startsWith("exec") ? [`${field.slice("exec".length).toLowerCase()}=${value}`] : [],
  );
  const inHeld = Object.entries(held).map(([name, value]) => `${name}=${value}`);
  const unheld = names.filter((name) => !inHeld.includes(name));
  const widen = missingForCommand("exec", askerOf("exec", { ports, call }));
  const isStricter = stored.security !== chosen.security || stored.ask !== chosen.ask;
  return [
    `Exec: ${ruleText(inForce)} node=${settings.node ?? "(unset)"}.`,
    `Configuration: ${ruleText(applied(execSettings(use.config, call.agentId, {})))}.`,
    `This session: ${names.length === 0 ? "nothing set" : names.join(" ")}${unheld.length === 0 ? "" : ` (not in force for you: ${unheld.join(" ")})`}.`,
    ...(isStricter ? [`The approvals file restricts it to security=${stored.security} ask=${stored.ask}.`] : []),
    `Anyone who may write here can tighten it; ${widen === undefined ? "you can also loosen it, within the configuration" : `loosening it needs ${widen === "owner" ? "an owner" : `the scope ${widen}`}`}.`,
    `Options: ${EXEC_OPTIONS}.`,
  ].join("\n");
}

/** What decides how much of the session's choice holds for this sender. */
export const choiceUse = ({ ports, call, key }: Of) => ({
  config: ports.config.current(),
  agentId: call.agentId,
  sandboxed: ports.choice.sandboxed(call.agentId, key),
  owner: call.owner,
  stillMay: ports.choice.stillMay(call.agentId),
});

/** What the table of authority says about a change of the session's choice. */
export async function judged(name: "exec" | "elevated", { ports, call, key }: Of, change: ChoiceChange): Promise<ChangeVerdict> {
  const entry = await ports.session.read(key);
  const { config, agentId, sandboxed } = choiceUse({ ports, call, key });
  return changeChoice({ config, agentId, sandboxed, entry, change, asker: askerOf(name, { ports, call }), grantor: grantorOf(call), holds: "owner" });
}

export function refused(verdict: Exclude<ChangeVerdict, { kind: "allowed" }>, of: Pick<Of, "ports" | "call">): string {
  if (verdict.kind === "beyond") return `Nothing was changed: ${verdict.text}.`;
  return `Nothing was changed. ${refusalText("loosen exec settings", verdict.missing, of)}`;
}

const NO_QUEUE = { queueMode: null, queueDebounceMs: null, queueCap: null, queueDrop: null };

export async function queue({ ports, call, key }: Handling, { change, wrong, reset }: NonNullable<Directives["queue"]>): Promise<string> {
  if (wrong.length > 0) return wrongWords(wrong, QUEUE_OPTIONS);
  const patch = { ...(reset ? NO_QUEUE : {}), ...change };
  if (Object.keys(patch).length > 0) await ports.session.patch(key, call.agentId, patch);
  const { mode, debounceMs, cap, drop } = queueSettings(ports.config.current(), await ports.session.read(key), call.channel);
  const now = `${mode.value}, debounce ${debounceMs.value} ms, cap ${cap.value}, drop ${drop.value}`;
  if (Object.keys(patch).length === 0) return `Queue: ${now}. Options: ${QUEUE_OPTIONS}.`;
  return reset && Object.keys(change).length === 0 ? `Queue follows the configuration again: ${now}.` : `Queue: ${now}.`;
}
