import { AppError } from "../../../base/errors.ts";
import { loadWhy, type Story } from "../../../conversation/index.ts";
import { inspectStore } from "../../../store/index.ts";
import { defineCommand } from "../../command.ts";
import { connectTo, GATEWAY_OPTIONS, timeoutOf, type GatewayFlags } from "../../gateway-call.ts";
import { findTarget } from "../../gateway-target.ts";
import { printJson, type Io } from "../../io.ts";

const MOST = 50;

function lastOf(value: string | undefined): number {
  const last = Number(value ?? 1);
  if (Number.isInteger(last) && last >= 1 && last <= MOST) return last;
  throw new AppError("INVALID_INPUT", `--last takes a whole number from 1 to ${MOST}, not "${value}"`);
}

/** From the gateway, or from the state folder while none runs or the one that runs does not answer. */
async function stories(io: Io, flags: GatewayFlags, what: string, last: number): Promise<readonly Story[]> {
  const target = await findTarget(io, flags);
  const given = flags.token !== undefined || flags.password !== undefined;
  if (target.kind !== "local" || target.holder || given) {
    try {
      await using client = await connectTo(io, target, timeoutOf(flags));
      return (await client.request("why", { what, last })).stories as readonly Story[];
    } catch (error) {
      const isSilent = error instanceof AppError && (error.code === "UNAVAILABLE" || error.code === "TIMEOUT") && error.details["protocolCode"] === undefined;
      if (!isSilent || target.kind !== "local" || given) throw error;
      io.err(`process ${target.holder?.pid} does not answer; this is from its state folder\n`);
    }
  }
  using state = inspectStore(target.stateDir);
  if (!state) throw new AppError("NOT_FOUND", `nothing is kept yet: there is no state in ${target.stateDir}; start the gateway first`);
  const { createWhy } = await loadWhy();
  return await createWhy({ store: state, now: io.now }).tell(what, { last, closely: true });
}

export const why = defineCommand({
  positionals: "<message, session or run>",
  options: {
    ...GATEWAY_OPTIONS,
    last: { type: "string", value: "n", help: "of a session: its last messages (default 1)" },
    verbose: { type: "boolean", help: "also plugins that said nothing, and the details of each step" },
  },
  examples: [
    { line: "openclaw why 4711", does: "what became of the message that the platform calls 4711" },
    { line: "openclaw why telegram:default:123:4711", does: "the same where several chats have such a message" },
    { line: "openclaw why agent:main:main --last 3", does: "the last three messages of a session" },
    { line: "openclaw why in:1 --verbose", does: "a row of the inbox, with everything that is known" },
  ],
  async run({ io, values, positionals }) {
    const [what, extra] = positionals;
    if (what === undefined || what.trim() === "" || extra !== undefined)
      throw new AppError("INVALID_INPUT", "expected one message, session or run, such as: openclaw why agent:main:main");
    const found = await stories(io, values, what, lastOf(values.last));
    if (values.json) return printJson(io, { stories: found });
    const [{ timeline }, why] = await Promise.all([import("./timeline.ts"), loadWhy()]);
    io.out(found.map((story) => timeline(story, { ...io, verbose: values.verbose ?? false }, why)).join("\n"));
  },
});
