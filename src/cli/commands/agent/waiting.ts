import { escapeLine } from "../../../base/printable.ts";
import { clip } from "../../../base/text.ts";
import type { GatewayClient } from "../../../protocol/index.ts";
import type { Io } from "../../io.ts";

const SHOWN_CHARS = 200;
/** As many characters of an id as `approvals resolve` needs. */
const ID_CHARS = 8;

/** Reports on stderr when a run of this session waits for an approval. */
export function sayWhatWaits(io: Pick<Io, "err">, client: Pick<GatewayClient, "on">, runId: string): void {
  let session: string | undefined;
  client.on("agent", (event) => {
    if (event.runId === runId) session ??= event.sessionKey;
  });
  client.on("exec.approval.requested", ({ id, request }) => {
    if (session === undefined || request.sessionKey !== session) return;
    const what = clip(escapeLine(request.command), SHOWN_CHARS);
    io.err(`waiting for approval: ${what}; decide with: openclaw approvals resolve ${id.slice(0, ID_CHARS)} <allow-once | allow-always | deny>\n`);
  });
}
