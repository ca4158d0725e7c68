/** The microphone and the loudspeaker of this browser. */
import type { Playing } from "./speaker.ts";
import { t } from "../../../words/words.ts";

/** Why nothing can be heard here, in words for the user. */
export class NoMicrophone extends Error {}

export interface Ears {
  /** Silence from now on. */
  close(): void;
  play(sound: ArrayBuffer): Promise<Playing>;
}

function reasonOf(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError" || name === "SecurityError") return t("The microphone is blocked for this page. Allow it in the browser, then try again.");
  if (name === "NotFoundError" || name === "OverconstrainedError") return t("No microphone was found. Connect one, then try again.");
  if (name === "NotReadableError" || name === "AbortError") return t("The microphone is in use by another program. Close it, then try again.");
  return t`The microphone could not be opened: ${error instanceof Error ? error.message : String(error)}`;
}

async function openStream(): Promise<MediaStream> {
  if (!navigator.mediaDevices?.getUserMedia)
    throw new NoMicrophone(t("Browsers allow the microphone only over HTTPS or on the gateway's own machine. Open this page that way to talk."));
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 } });
  } catch (error) {
    throw new NoMicrophone(reasonOf(error), { cause: error });
  }
}

export async function playSound(audio: AudioContext, sound: ArrayBuffer): Promise<Playing> {
  const node = audio.createBufferSource();
  node.buffer = await audio.decodeAudioData(sound);
  node.connect(audio.destination);
  const { promise, resolve } = Promise.withResolvers<void>();
  node.onended = () => resolve();
  node.start();
  return {
    ended: promise,
    stop() {
      node.stop();
      resolve();
    },
  };
}

/** Opens the microphone; `hear` gets what it picks up, some 20 ms at a time. */
export async function openEars(hear: (samples: Float32Array, rate: number) => void): Promise<Ears> {
  const stream = await openStream();
  const audio = new AudioContext();
  try {
    await audio.audioWorklet.addModule(new URL("listen.js", document.baseURI).href);
    await audio.resume();
  } catch (error) {
    for (const track of stream.getTracks()) track.stop();
    void audio.close();
    throw error;
  }
  const source = audio.createMediaStreamSource(stream);
  const listener = new AudioWorkletNode(audio, "listen", { numberOfOutputs: 0 });
  listener.port.onmessage = ({ data }: MessageEvent<Float32Array>) => hear(data, audio.sampleRate);
  source.connect(listener);
  return {
    close() {
      source.disconnect();
      listener.port.onmessage = null;
      for (const track of stream.getTracks()) track.stop();
      void audio.close();
    },
    play: (sound) => playSound(audio, sound),
  };
}
