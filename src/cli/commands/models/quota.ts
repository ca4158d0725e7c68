import { systemClock } from "../../../base/clock.ts";
import { createRedactor } from "../../../base/redaction.ts";
import { formatDuration } from "../../../base/text.ts";
import { loadQuota, type ProviderQuota, type QuotaReport } from "../../../models/index.ts";
import type { Io } from "../../io.ts";
import type { Style } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import type { ModelsView } from "./source.ts";

const BAR_WIDTH = 10;

/** Asks providers how much of their allowances is used; undefined when none can be asked. Keys have allowances at some providers only, and are asked about when all are. */
export async function quotaOf(io: Io, view: ModelsView, { all }: { readonly all: boolean }): Promise<QuotaReport | undefined> {
  const logins = [...view.credentials].flatMap(([provider, list]) => (list.some(({ type }) => type === "oauth" || type === "token") ? [provider] : []));
  if (!all && logins.length === 0) return undefined;
  const { createQuota, CHAT_QUOTA_MS } = await loadQuota();
  const quota = createQuota({ auth: view.auth, env: () => view.env, clock: systemClock, redactor: createRedactor(), version: io.version });
  const report = await quota.load({ ...(all ? {} : { providers: logins, timeoutMs: CHAT_QUOTA_MS }), signal: io.signal() });
  return report.providers.length === 0 && !all ? undefined : report;
}

function bar(percent: number): string {
  const full = Math.min(BAR_WIDTH, Math.floor((percent / 100) * BAR_WIDTH));
  return `${"█".repeat(full)}${"░".repeat(BAR_WIDTH - full)} ${Math.round(percent)} %`;
}

function rowsOf({ displayName, plan, windows, error }: ProviderQuota, style: Style, now: number): readonly string[][] {
  const name = plan === undefined ? displayName : `${displayName} (${plan})`;
  if (error !== undefined) return [[name, "-", style.red("unknown"), error]];
  if (windows.length === 0) return [[name, "-", style.dim("no data"), ""]];
  return windows.map(({ label, usedPercent, resetAt }, index) => {
    const paint = usedPercent >= 100 ? style.red : usedPercent >= 80 ? style.yellow : style.green;
    const reset = resetAt === undefined ? "" : resetAt <= now ? "resets now" : `resets in ${formatDuration(resetAt - now)}`;
    return [index === 0 ? name : "", label, paint(bar(usedPercent)), reset];
  });
}

export function quotaLines(
  { providers }: QuotaReport,
  { style, columns, now }: { readonly style: Style; readonly columns: number; readonly now: number },
): string {
  if (providers.length === 0) return "\nNo provider in use reports usage limits\n";
  const rows = providers.flatMap((provider) => rowsOf(provider, style, now));
  return `\n${formatTable(["Allowance", "Window", "Used", ""], rows, { style, columns })}`;
}
