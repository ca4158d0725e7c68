import { messageOf } from "../../../base/errors.ts";
import { defineCommand, JSON_OPTION } from "../../command.ts";
import { timeoutOf, tryGateway, type Answered } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";
import { createStyle } from "../../output/style.ts";
import { busy } from "./busy.ts";
import { issueLines, statusTable, type Status } from "./rendering.ts";
import { openChannels } from "./source.ts";

/** What a connection takes beside the answer that is waited for. */
const SLACK_MS = 5000;

interface Found {
  readonly status: Status;
  /** Why the gateway was not asked. */
  readonly unreachable?: string;
}

/** Asks the gateway; where there is none, the configuration and, with `probe`, the platforms. */
async function look(io: Io, { probe, timeoutMs }: { readonly probe: boolean; readonly timeoutMs: number }): Promise<Found> {
  using _ = busy(io, probe ? "asking the channels" : "asking the gateway");
  const patience = timeoutMs + (probe ? SLACK_MS : 0);
  const asked: Answered<Status> = await findTarget(io, {}).then(
    (target) => tryGateway(io, target, patience, (client) => client.request("channels.status", { probe, timeoutMs })),
    (error: unknown) => ({ ok: false, error: messageOf(error) }),
  );
  if (asked.value) return { status: asked.value };
  await using view = await openChannels(io);
  return { status: await view.channels.status({ probe, timeoutMs }), unreachable: asked.error?.split("\n", 1)[0] ?? "no answer" };
}

function print(io: Io, { status, unreachable }: Found): void {
  const style = createStyle(io.color);
  if (unreachable !== undefined) io.out(`${style.yellow("!")} ${unreachable}; this is what the configuration says\n`);
  const table = statusTable(status, { style, columns: io.columns, now: io.now() });
  io.out(io.runnable(table === "" ? "no channel is configured; set one up with: openclaw channels add\n" : table));
  for (const line of issueLines(status, style)) io.out(line);
}

export const status = defineCommand({
  options: {
    probe: { type: "boolean", help: "ask each platform now whether the credentials work" },
    timeout: { type: "string", value: "ms", help: "how long to wait for each (default 10000)" },
    json: JSON_OPTION,
  },
  examples: [
    { line: "openclaw channels status", does: "how each account is" },
    { line: "openclaw channels status --probe --json", does: "after asking the platforms, for machines" },
  ],
  async run({ io, values }) {
    const found = await look(io, { probe: values.probe ?? false, timeoutMs: Math.round(timeoutOf(values)) });
    const { unreachable } = found;
    if (values.json) printJson(io, { ...found.status, ...(unreachable === undefined ? {} : { gateway: { reachable: false, error: unreachable } }) });
    else print(io, found);
  },
});
