/** Votes in polls of ours: they are encrypted with a secret that is in the poll. */
import { createHash } from "node:crypto";
import type { proto } from "baileys";
import type { Library } from "../session/library.ts";
import { pollIn } from "./content.ts";

export interface Vote {
  readonly question: string;
  /** Empty: the vote was taken back. */
  readonly chosen: readonly string[];
}

export interface VoteDeps {
  readonly library: Library;
  /** A message that we sent. */
  sentMessage(id: string): Promise<proto.IMessage | undefined>;
  /** Addresses that may stand for us, and for the voter: the phone signs with one of them. */
  readonly creators: readonly string[];
  readonly voters: readonly string[];
}

const hashOf = (option: string): string => createHash("sha256").update(option).digest("hex");

/** Undefined: it is in no poll of ours, or nobody who may have voted signed it. */
export async function readVote(update: proto.Message.IPollUpdateMessage, { library, sentMessage, creators, voters }: VoteDeps): Promise<Vote | undefined> {
  const { vote, pollCreationMessageKey: key } = update;
  const message = key?.id ? await sentMessage(key.id) : undefined;
  const poll = message && pollIn(message);
  const pollEncKey = message?.messageContextInfo?.messageSecret;
  if (!poll || !pollEncKey || !vote?.encPayload || !vote.encIv) return undefined;
  const { encPayload, encIv } = vote;
  for (const pollCreatorJid of creators) {
    for (const voterJid of voters) {
      try {
        const { selectedOptions } = library.decryptPollVote({ encPayload, encIv }, { pollCreatorJid, pollMsgId: key!.id!, pollEncKey, voterJid });
        const hashes = new Set((selectedOptions ?? []).map((hash) => Buffer.from(hash).toString("hex")));
        const options = (poll.options ?? []).map(({ optionName }) => optionName ?? "");
        return { question: poll.name ?? "", chosen: options.filter((option) => hashes.has(hashOf(option))) };
      } catch {
        // Made with other addresses.
      }
    }
  }
  return undefined;
}
