/** Strangers that ask to be let in. */
import type { PluginRuntime } from "../types/index.ts";

export interface ChannelPairingController {
  readonly accountId: string;
  readAllowFromStore(): Promise<string[]>;
  /** Nobody is paired where everybody, or only a list, is let in. */
  readStoreForDmPolicy(channel: string, accountId?: string): Promise<string[]>;
  upsertPairingRequest(params: { id: string | number; meta?: Record<string, string | undefined | null> }): Promise<{ code: string; created: boolean }>;
  /** Sends a code the first time that a sender asks. */
  issueChallenge(params: {
    senderId: string;
    senderIdLine: string;
    meta?: Record<string, string | undefined> | undefined;
    sendPairingReply(text: string): Promise<unknown>;
    onCreated?: ((params: { code: string }) => void) | undefined;
    onReplyError?: ((error: unknown) => void) | undefined;
  }): Promise<{ created: boolean; code?: string | undefined }>;
}

export function createChannelPairingController(params: {
  readonly core: PluginRuntime;
  readonly channel: string;
  readonly accountId: string;
}): ChannelPairingController {
  const { core, channel, accountId } = params;
  const { pairing } = core.channel;
  const upsertPairingRequest: ChannelPairingController["upsertPairingRequest"] = (request) => pairing.upsertPairingRequest({ ...request, channel, accountId });
  return {
    accountId,
    readAllowFromStore: () => pairing.readAllowFromStore(channel, undefined, accountId),
    readStoreForDmPolicy: (name, id) => pairing.readAllowFromStore(name, undefined, id ?? accountId),
    upsertPairingRequest,
    async issueChallenge({ senderId, senderIdLine, meta, sendPairingReply, onCreated, onReplyError }) {
      const { code, created } = await upsertPairingRequest({ id: senderId, ...(meta ? { meta } : {}) });
      if (!created || !code) return { created: false };
      onCreated?.({ code });
      try {
        await sendPairingReply(pairing.buildPairingReply({ channel, idLine: senderIdLine, code }));
      } catch (error) {
        onReplyError?.(error);
      }
      return { created: true, code };
    },
  };
}

/** Takes a prefix off entries of an allow list, whatever comes behind. */
export const createPairingPrefixStripper =
  (prefix: RegExp, map: (entry: string) => string = (entry) => entry) =>
  (entry: string): string =>
    map(entry.trim().replace(prefix, "").trim());

export interface DirectDmGuardPolicy {
  allowedKinds: number[];
  maxFutureSkewSec: number;
  maxCiphertextBytes: number;
  maxPlaintextBytes: number;
  rateLimit: { windowMs: number; maxPerSenderPerWindow: number; maxGlobalPerWindow: number; maxTrackedSenderKeys: number };
}

/** What an encrypted message has to satisfy before anything is spent on it. */
export function createDirectDmPreCryptoGuardPolicy(
  over: Partial<Omit<DirectDmGuardPolicy, "rateLimit">> & { rateLimit?: Partial<DirectDmGuardPolicy["rateLimit"]> } = {},
): DirectDmGuardPolicy {
  return {
    allowedKinds: [4],
    maxFutureSkewSec: 120,
    maxCiphertextBytes: 16 * 1024,
    maxPlaintextBytes: 8 * 1024,
    ...over,
    rateLimit: { windowMs: 60_000, maxPerSenderPerWindow: 20, maxGlobalPerWindow: 200, maxTrackedSenderKeys: 4096, ...over.rateLimit },
  };
}
