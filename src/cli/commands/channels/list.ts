import { escapeLine } from "../../../base/printable.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { openAuth } from "../models/auth/source.ts";
import { quotaLines, quotaOf } from "../models/quota.ts";
import { openModels } from "../models/source.ts";
import { busy } from "./busy.ts";
import { stateText, type Status } from "./rendering.ts";
import { openChannels } from "./source.ts";

type Quota = NonNullable<Awaited<ReturnType<typeof quotaOf>>>;

interface Login {
  readonly id: string;
  readonly provider: string;
  readonly type: string;
  /** A login of another program; it is copied when it is taken over. */
  readonly isExternal: boolean;
}

interface Listed {
  readonly status: Status;
  /** Configured channels that no plugin serves, with the reason. */
  readonly unserved: readonly (readonly [string, string])[];
  readonly logins: readonly Login[];
  readonly usage: Quota | undefined;
}

async function gather(io: Io, withUsage: boolean): Promise<Listed> {
  await using view = await openChannels(io);
  const status = await view.channels.status();
  const { auth } = await openAuth(io, undefined);
  const logins = (await auth.list()).map(({ id, provider, type }) => ({ id, provider, type, isExternal: false }));
  using _ = busy(io, "Checking provider usage");
  const usage = withUsage ? await quotaOf(io, await openModels(io), { all: false }) : undefined;
  const served = new Set(view.plugins.map(({ id }) => id));
  const sections = Object.keys(view.config.channels ?? {}).filter((id) => id !== "defaults" && !served.has(id));
  const why = (id: string): string => view.off.get(id) ?? view.failed[0]?.error ?? "no plugin for this channel";
  return { status, unserved: sections.map((id) => [id, why(id)] as const), logins, usage };
}

function print(io: Io, { status, unserved, logins, usage }: Listed): void {
  const style = createStyle(io.color);
  const shape = { style, columns: io.columns };
  const rows = status.channelOrder.flatMap((id) =>
    (status.channelAccounts[id] ?? []).map((account) => [
      escapeLine(status.channelLabels[id] ?? id),
      escapeLine(account.accountId),
      account.configured === true && account.enabled !== false ? style.green("configured") : stateText(account, style),
      escapeLine(account.name ?? ""),
    ]),
  );
  const off = unserved.map(([id, why]) => [id, "-", style.yellow("off"), escapeLine(why)]);
  if (rows.length + off.length === 0) io.out(io.runnable("No channels configured. Add one with: openclaw channels add\n"));
  else io.out(formatTable(["Channel", "Account", "State", ""], [...rows, ...off], shape));
  if (logins.length > 0) {
    io.out(
      `\n${formatTable(
        ["Login", "Provider", "Kind"],
        logins.map(({ id, provider, type }) => [escapeLine(id), provider, type]),
        shape,
      )}`,
    );
  }
  if (usage) io.out(quotaLines(usage, { ...shape, now: io.now() }));
}

export const list = defineCommand({
  options: { "no-usage": { type: "boolean", help: "Don't check provider usage" }, json: JSON_OPTION },
  examples: [
    { line: "openclaw channels list", does: "Channel accounts, model provider logins and their usage" },
    { line: "openclaw channels list --no-usage --json", does: "From files only, as JSON" },
  ],
  async run({ io, values }) {
    const listed = await gather(io, values["no-usage"] !== true);
    if (!values.json) return print(io, listed);
    const { status, logins, usage } = listed;
    const chat = Object.fromEntries(status.channelOrder.map((id) => [id, (status.channelAccounts[id] ?? []).map(({ accountId }) => accountId)]));
    printJson(io, { chat, auth: logins, ...(usage ? { usage } : {}) });
  },
});
