/** Speech into text: who may recognise a recording, in which order, and what they answered. */
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { AppError, fileError, messageOf } from "../../base/errors.ts";
import { formatBytes } from "../../base/text.ts";
import { extensionForMime, mediaKindFromMime, sniffMediaType } from "../../media/index.ts";
import { decideByRules } from "../../sessions/index.ts";
import { limited } from "../limited.ts";
import { recognisersBy, type RecognitionDeps } from "./recognisers.ts";
import type { Recogniser, Recording, Transcript } from "./types.ts";

/** Recognises speech. */
export interface Recognition {
  /** Undefined: recordings are not transcribed here, or not in this chat. Throws with the reason of each that failed. */
  transcribe(recording: Recording, signal?: AbortSignal): Promise<Transcript | undefined>;
  /** The same for what was recorded just now and is not stored. */
  hear(recorded: { readonly bytes: Buffer; readonly mimeType: string; readonly agentId?: string }, signal?: AbortSignal): Promise<Transcript | undefined>;
  /** Who would be asked, in order. */
  recognisers(agentId?: string): Promise<readonly string[]>;
}

const AT_ONCE = 2;

/** A number of uses at the same time. */
function createGate(most: () => number) {
  const waiting: (() => void)[] = [];
  let used = 0;
  return {
    async enter(signal: AbortSignal | undefined): Promise<Disposable> {
      while (used >= most()) {
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting.push(resolve);
        signal?.addEventListener("abort", () => resolve(), { once: true });
        await promise;
        signal?.throwIfAborted();
      }
      used += 1;
      return {
        [Symbol.dispose]() {
          used -= 1;
          waiting.shift()?.();
        },
      };
    },
  };
}

/** The recording's bytes, once they are known to be worth sending. */
async function bytesOf({ path, mimeType }: Recording, maxBytes: number): Promise<Buffer> {
  try {
    await using file = await open(path);
    const { size } = await file.stat();
    if (size === 0) throw new AppError("INVALID_INPUT", "the recording is empty");
    if (size > maxBytes)
      throw new AppError("INVALID_INPUT", `the recording is ${formatBytes(size)}; tools.media.audio.maxBytes allows ${formatBytes(maxBytes)}`);
    const bytes = await file.readFile();
    const found = sniffMediaType(bytes) ?? mimeType;
    const kind = mediaKindFromMime(found);
    if (kind !== "audio" && kind !== "video") throw new AppError("INVALID_INPUT", `${basename(path)} is no recording but ${found}`);
    return bytes;
  } catch (error) {
    throw error instanceof AppError ? error : fileError(path, "could not read the recording", error);
  }
}

export function createRecognition(deps: RecognitionDeps): Recognition {
  const { config, clock } = deps;
  const gate = createGate(() => config.current.tools?.media?.concurrency ?? AT_ONCE);

  const inOrder = recognisersBy(deps);

  async function ask(recogniser: Recogniser, recording: Recording, caller: AbortSignal | undefined): Promise<string> {
    const { maxBytes, maxChars, timeoutMs } = recogniser;
    const bytes = await bytesOf(recording, maxBytes);
    using limit = limited(clock, timeoutMs, caller);
    try {
      const text = await recogniser.recognise({ path: recording.path, mimeType: recording.mimeType, bytes, timeoutMs, signal: limit.signal });
      return text.toWellFormed().slice(0, maxChars).trim();
    } catch (error) {
      if (limit.isOver()) throw new AppError("TIMEOUT", `gave no transcript within ${timeoutMs / 1000} s`);
      throw error;
    }
  }

  const recognition: Recognition = {
    async hear({ bytes, mimeType, agentId }, signal) {
      const folder = await mkdtemp(join(tmpdir(), "openclaw-heard-"));
      try {
        const path = join(folder, `recording${extensionForMime(mimeType) ?? ""}`);
        await writeFile(path, bytes, { mode: 0o600 });
        return await recognition.transcribe({ path, mimeType, agentId }, signal);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },

    recognisers: async (agentId) => (await inOrder(agentId)).map(({ name }) => name),

    async transcribe(recording, signal) {
      const { agentId, sessionKey, channel } = recording;
      const { scope } = config.current.tools?.media?.audio ?? {};
      if (sessionKey !== undefined && !decideByRules(scope, sessionKey, undefined, channel).allowed) return undefined;
      const order = await inOrder(agentId);
      if (order.length === 0) return undefined;
      using _place = await gate.enter(signal);
      const failures: string[] = [];
      for (const recogniser of order) {
        const { name } = recogniser;
        try {
          return { text: await ask(recogniser, recording, signal), by: name };
        } catch (error) {
          signal?.throwIfAborted();
          const why = messageOf(error);
          // What is wrong with the recording is wrong for everyone.
          if (error instanceof AppError && error.code === "INVALID_INPUT" && recogniser === order.at(-1)) throw error;
          failures.push(`${name}: ${why}`);
        }
      }
      throw new AppError("UNAVAILABLE", `the recording could not be transcribed: ${failures.join("; ")}`);
    },
  };
  return recognition;
}
