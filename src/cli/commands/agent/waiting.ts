import { escapeLine } from "../../../base/printable.ts";
import { clip } from "../../../base/text.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import type { Io } from "../../io.ts";

const SHOWN_CHARS = 200;
/** `approvals resolve` accepts a prefix of this length. */
const ID_CHARS = 8;

/** Prints the approval requests of this run's session to stderr. */
export function reportPendingApprovals(io: Pick<Io, "err">, client: Pick<GatewayClient, "on">, runId: string): void {
  let session: string | undefined;
  client.on("agent", (event) => {
    if (event.runId === runId) session ??= event.sessionKey;
  });
  client.on("exec.approval.requested", ({ id, request }) => {
    if (session === undefined || request.sessionKey !== session) return;
    const what = clip(escapeLine(request.command), SHOWN_CHARS);
    io.err(`Waiting for approval: ${what}. Decide with: openclaw approvals resolve ${id.slice(0, ID_CHARS)} <allow-once | allow-always | deny>\n`);
  });
}
