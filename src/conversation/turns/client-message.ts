import type { ReplyAddress } from "../address.ts";
import type { OutgoingFacts } from "../delivery/delivery.ts";
import { traceOfMessage } from "../intake/inbound-hooks.ts";
import type { Inbound } from "../intake/inbound-record.ts";
import type { AcceptedRow } from "./run-log.ts";

/** Who writes over the gateway itself, where nobody says more. */
const OPERATOR = "operator";

type Written = Pick<AcceptedRow, "runId" | "sessionKey" | "agentId" | "message" | "channel" | "scopes" | "owner" | "senderId" | "accountId"> & {
  readonly inboxId?: number;
  readonly images?: AcceptedRow["images"];
  readonly files?: AcceptedRow["files"];
};

/** Where a client's answer is shown: its session is the conversation. */
export const addressOfClient = ({ channel, sessionKey, accountId = "default" }: Pick<Written, "channel" | "sessionKey" | "accountId">): ReplyAddress => ({
  channel,
  accountId,
  to: sessionKey,
  chatType: "direct",
});

/** A client's message in the form that messages of channels have, so that hooks are told about both alike. */
export function clientMessage(row: Written, receivedAt: number): Inbound {
  const { runId, sessionKey, agentId, message, channel, scopes = [], owner = false, senderId = OPERATOR, inboxId = 0, images = [], files = [] } = row;
  const address = addressOfClient(row);
  const media = [
    ...images.map(({ mimeType }) => ({ kind: "image" as const, mimeType, ref: undefined })),
    ...files.map(({ path, mimeType }) => ({ kind: "document" as const, mimeType, ref: path })),
  ];
  return {
    kind: "channel",
    id: inboxId,
    channel,
    accountId: address.accountId,
    conversation: sessionKey,
    messageId: runId,
    text: message,
    sessionKey,
    agentId,
    receivedAt,
    runId,
    event: {
      kind: "message",
      id: runId,
      chat: { type: "direct", id: sessionKey },
      sender: { id: senderId },
      to: sessionKey,
      ...(media.length === 0 ? {} : { media }),
    },
    access: {
      owner,
      commandAuthorized: scopes.includes("operator.write") || scopes.includes("operator.admin"),
      wasMentioned: true,
      why: "a client of the gateway",
    },
    address,
    route: { matchedBy: "client" },
  };
}

/** What belongs to the answer of a client's run, for hooks and for rows in the outbox. */
export function clientFacts(row: AcceptedRow, kind: OutgoingFacts["kind"]): OutgoingFacts {
  const { runId, sessionKey, agentId, senderId = OPERATOR } = row;
  const traceId = traceOfMessage(clientMessage(row, 0));
  return { kind, runId, sessionKey, agentId, senderId, messageId: runId, traceId };
}
