/** Speech into text: who may recognise a recording, in which order, and what they answered. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { AppError, fileError, messageOf } from "../../base/errors.ts";
import { createRootedFiles } from "../../base/rooted-files.ts";
import { clip, formatBytes } from "../../base/text.ts";
import { extensionForMime, sniffMediaType } from "../../media/index.ts";
import { decideByRules } from "../../sessions/index.ts";
import { limited } from "../../base/limited.ts";
import { createGate } from "../gate.ts";
import { recognisersBy, type RecognitionDeps } from "./recognisers.ts";
import type { Recogniser, RecogniseRequest, Recording, Transcript } from "./types.ts";

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

/** Recordings of clients that wait; those of chats wait in their lanes. */
const MOST_WAITING = 16;
const TYPE = /^(?:audio|video)\/[a-z0-9][a-z0-9.+-]{0,80}$/;

/** The recording's bytes and type, once they are known to be worth sending. */
async function contentOf({ path, mimeType }: Recording, maxBytes: number): Promise<Pick<RecogniseRequest, "bytes" | "mimeType">> {
  try {
    await using file = await createRootedFiles({ unique: () => "" }).open(path);
    const { size } = await file.stat();
    if (size === 0) throw new AppError("INVALID_INPUT", "the recording is empty");
    if (size > maxBytes)
      throw new AppError("INVALID_INPUT", `the recording is ${formatBytes(size)}; tools.media.audio.maxBytes allows ${formatBytes(maxBytes)}`);
    const bytes = await file.readFile();
    const found = sniffMediaType(bytes) ?? mimeType;
    if (!TYPE.test(found))
      throw new AppError("INVALID_INPUT", `${basename(path)} is not an audio recording but ${clip(JSON.stringify(found).slice(1, -1), 80)}`);
    return { bytes, mimeType: found };
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
    const content = await contentOf(recording, maxBytes);
    using limit = limited(clock, timeoutMs, caller);
    try {
      const text = await recogniser.recognise({ ...recording, ...content, timeoutMs, signal: limit.signal });
      return text.toWellFormed().slice(0, maxChars).trim();
    } catch (error) {
      if (limit.isOver()) throw new AppError("TIMEOUT", `returned no transcript within ${timeoutMs / 1000} s`);
      throw error;
    }
  }

  /** `pathOf` makes the file once it is this recording's turn. */
  async function recogniseNow(
    { pathOf, ...about }: Omit<Recording, "path"> & { readonly pathOf: () => Promise<string> },
    signal: AbortSignal | undefined,
    mostWaiting?: number,
  ): Promise<Transcript | undefined> {
    const { agentId, sessionKey, channel } = about;
    const { scope } = config.current.tools?.media?.audio ?? {};
    if (sessionKey !== undefined && !decideByRules(scope, sessionKey, undefined, channel).allowed) return undefined;
    const order = await inOrder(agentId);
    if (order.length === 0) return undefined;
    using _place = await gate.enter(signal, mostWaiting);
    const recording: Recording = { ...about, path: await pathOf() };
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
  }

  return {
    async hear({ bytes, mimeType, agentId }, signal) {
      let folder: string | undefined;
      async function pathOf(): Promise<string> {
        folder = await mkdtemp(join(tmpdir(), "openclaw-heard-"));
        const path = join(folder, `recording${extensionForMime(sniffMediaType(bytes) ?? mimeType) ?? ""}`);
        await writeFile(path, bytes, { mode: 0o600 });
        return path;
      }
      try {
        return await recogniseNow({ pathOf, mimeType, agentId }, signal, MOST_WAITING);
      } finally {
        if (folder !== undefined) await rm(folder, { recursive: true, force: true });
      }
    },

    recognisers: async (agentId) => (await inOrder(agentId)).map(({ name }) => name),

    transcribe: ({ path, ...about }, signal) => recogniseNow({ ...about, pathOf: async () => path }, signal),
  };
}
