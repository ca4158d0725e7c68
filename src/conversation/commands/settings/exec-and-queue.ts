/** `/exec` and `/queue`: several values at once. */
import { execSettings, type ExecOverride } from "../../../tools/index.ts";
import { queueSettings } from "../../../sessions/index.ts";
import type { SessionEntry } from "../../../protocol/index.ts";
import type { Handling } from "../handling.ts";
import type { Directives } from "../parsing/directives.ts";

const EXEC_OPTIONS = "host=sandbox|gateway|node security=deny|allowlist|full ask=off|on-miss|always node=<id>";
const QUEUE_OPTIONS = "modes steer, followup, collect, steer-backlog, interrupt; debounce:<ms|s|m>, cap:<n>, drop:old|new|summarize; default";

const wrongWords = (words: readonly string[], options: string): string => `Not understood: ${words.join(" ")}. Options: ${options}.`;

export async function exec({ ports, call, key }: Handling, { change, wrong }: NonNullable<Directives["exec"]>): Promise<string> {
  if (wrong.length > 0) return wrongWords(wrong, EXEC_OPTIONS);
  if (Object.keys(change).length === 0) {
    const { host, security, ask, node } = execSettings(ports.config.current(), call.agentId, execOverride(await ports.session.read(key)));
    return `Exec: host=${host} security=${security} ask=${ask} node=${node ?? "(unset)"}. Options: ${EXEC_OPTIONS}.`;
  }
  await ports.session.patch(key, call.agentId, { ...change });
  const parts = Object.entries(change).map(([field, value]) => `${field.slice("exec".length).toLowerCase()}=${value}`);
  return `Exec for this session: ${parts.join(" ")}.`;
}

function execOverride(entry: SessionEntry | undefined): ExecOverride {
  const fields = { host: entry?.["execHost"], security: entry?.["execSecurity"], ask: entry?.["execAsk"], node: entry?.["execNode"] };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === "string"));
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
