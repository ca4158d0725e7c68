import { AppError } from "../../../base/errors.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import { defineCommand } from "../../command.ts";
import { GATEWAY_OPTIONS, withGateway } from "../../gateway-call.ts";
import { printJson } from "../../io.ts";

const DECISIONS: Readonly<Record<string, string>> = {
  "allow-once": "allow-once",
  allow: "allow-once",
  once: "allow-once",
  "allow-always": "allow-always",
  always: "allow-always",
  deny: "deny",
  reject: "deny",
  block: "deny",
};

/** The question that an id, or the beginning of one as sessions show it, means. */
async function meant(client: GatewayClient, given: string): Promise<string> {
  const { approvals } = await client.request("exec.approval.list", {});
  const found = approvals.filter(({ id }) => id === given || id.startsWith(given));
  const [one] = found.filter(({ id }) => id === given).concat(found);
  if (one && (one.id === given || found.length === 1)) return one.id;
  const why =
    found.length > 1 ? `${found.length} questions begin with it; give more of it` : "it is unknown, answered or too late; see: openclaw approvals pending";
  throw new AppError("NOT_FOUND", `${JSON.stringify(given)} names no question: ${why}`);
}

export const resolve = defineCommand({
  positionals: "<id> <allow-once | allow-always | deny>",
  options: GATEWAY_OPTIONS,
  examples: [{ line: "openclaw approvals resolve APPROVAL_ID allow-once", does: "let a command run this time; the first eight characters of its id will do" }],
  async run({ io, values, positionals }) {
    const [given, word, extra] = positionals;
    const decision = Object.hasOwn(DECISIONS, word ?? "") ? DECISIONS[word!] : undefined;
    if (given === undefined || decision === undefined || extra !== undefined)
      throw new AppError("INVALID_INPUT", "expected an id and allow-once, allow-always or deny, such as: openclaw approvals resolve 25e15b1e allow-once");
    const id = await withGateway(io, values, async (client) => {
      const found = await meant(client, given);
      await client.request("exec.approval.resolve", { id: found, decision });
      return found;
    });
    if (values.json) printJson(io, { ok: true, id, decision });
    else io.out(`${decision}: ${id}\n`);
  },
});
