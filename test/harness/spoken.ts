/** Speech and its recognition on this machine: espeak-ng and pocketsphinx, which are installed when they are missing and this machine allows it. */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { installPackage } from "./packages.ts";

const ESPEAK = ["/usr/bin/espeak-ng", "/usr/local/bin/espeak-ng"];
const SPHINX = "/usr/bin/pocketsphinx_continuous";
const espeak = (): string | undefined => ESPEAK.find((path) => existsSync(path));
const hasSphinx = (): boolean => existsSync(SPHINX) && existsSync("/usr/share/pocketsphinx/model/en-us");

export const canSpeak = (): boolean => espeak() !== undefined || (installPackage("espeak-ng") && espeak() !== undefined);
export const canHear = (): boolean => canSpeak() && (hasSphinx() || (installPackage("pocketsphinx") && installPackage("pocketsphinx-en-us") && hasSphinx()));
export const NEEDED = "needs espeak-ng and pocketsphinx: apt-get install espeak-ng pocketsphinx pocketsphinx-en-us";

/** An entry of `tools.media.audio.models` that recognises these texts. */
export function recogniser(grammar: string, ...texts: readonly string[]): object {
  writeFileSync(grammar, `#JSGF V1.0;\ngrammar words;\npublic <said> = ${texts.join(" | ")};\n`);
  return { type: "cli", command: SPHINX, args: ["-infile", "{{MediaPath}}", "-jsgf", grammar, "-logfn", "/dev/null"] };
}

function header(count: number, rate: number): Buffer {
  const head = Buffer.alloc(44);
  head.write("RIFF", 0, "latin1");
  head.writeUInt32LE(36 + count * 2, 4);
  head.write("WAVEfmt ", 8, "latin1");
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write("data", 36, "latin1");
  head.writeUInt32LE(count * 2, 40);
  return head;
}

/** A recording of a text as WAV, with silence around it. */
export function spoken(
  text: string,
  { rate = 16_000, before = 0, after = 0 }: { readonly rate?: number; readonly before?: number; readonly after?: number } = {},
): Buffer {
  const wav = execFileSync(espeak()!, ["-v", "en-us", "-s", "130", "--stdout", text]);
  const from = wav.readUInt32LE(24);
  const count = Math.floor(((wav.length - 44) / 2 / from) * rate);
  const samples = Buffer.alloc(count * 2);
  for (let at = 0; at < count; at += 1) samples.writeInt16LE(wav.readInt16LE(44 + 2 * Math.floor((at * from) / rate)), at * 2);
  const silence = (seconds: number): Buffer => Buffer.alloc(Math.round(seconds * rate) * 2);
  const all = Buffer.concat([silence(before), samples, silence(after)]);
  return Buffer.concat([header(all.length / 2, rate), all]);
}
