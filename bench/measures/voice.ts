/** Speech on this machine: from the first sentence of an answer to its sound, and how much of that is the gateway's. */
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeAgentPlace, startModel } from "../drivers/agent-place.ts";
import { connectBench } from "../drivers/client.ts";
import type { BenchContext, Measure, Row } from "../row.ts";
import { median, round } from "../stats.ts";

const SENTENCE = "The kitchen light is on now.";
const ESPEAK = ["/usr/bin/espeak-ng", "/usr/local/bin/espeak-ng"];
const ARGS = ["-v", "en", "-w", "{file}", "--stdin"];

/** What speaks: espeak-ng, or where it is not installed a program that writes a second of silence. */
function program(folder: string): string {
  const there = ESPEAK.find((path) => existsSync(path));
  if (there !== undefined) return there;
  const path = join(folder, "silence");
  writeFileSync(path, '#!/bin/sh\ncat > /dev/null\nhead -c 44100 /dev/zero > "$4"\n');
  chmodSync(path, 0o755);
  return path;
}

/** The program alone: started, fed and read. */
function bareMs(command: string, file: string): number {
  const started = performance.now();
  spawnSync(
    command,
    ARGS.map((arg) => (arg === "{file}" ? file : arg)),
    { input: SENTENCE },
  );
  if (readFileSync(file).length === 0) throw new Error(`${command} wrote nothing`);
  const ms = performance.now() - started;
  rmSync(file);
  return ms;
}

async function run(context: BenchContext): Promise<readonly Row[]> {
  const rounds = context.quick ? 3 : 40;
  const folder = join(context.folder, "voice");
  mkdirSync(folder, { recursive: true });
  const command = program(folder);
  // Makes the build that is measured.
  await context.loadStore();
  using model = await startModel(context);
  const tts = { provider: "local", edge: { enabled: false }, local: { command, args: ARGS } };
  const place = await makeAgentPlace(context, "voice", model, { config: { messages: { tts } } });
  await using _gateway = await place.start();
  const client = await connectBench(place.to);
  const [bare, whole]: [number[], number[]] = [[], []];
  // The first loads the code.
  for (let n = 0; n <= rounds; n += 1) {
    const alone = bareMs(command, join(folder, "bare.wav"));
    const started = performance.now();
    const { audioBase64 } = await client.request("talk.speak", { text: SENTENCE });
    const ms = performance.now() - started;
    if (typeof audioBase64 !== "string" || audioBase64.length < 1000) throw new Error("the gateway gave no sound");
    if (n === 0) continue;
    bare.push(alone);
    whole.push(ms);
  }
  client.close();
  const facts = { program: command, "bare ms": round(median(bare), 1), "whole ms": round(median(whole), 1) };
  const own = Math.max(0, median(whole) - median(bare));
  return [
    { name: "voice: first sentence to its sound, with a local voice", value: round(median(whole), 1), unit: "ms", bar: 150, better: "lower", facts },
    { name: "voice: the gateway's part of that", value: round(own, 1), unit: "ms", bar: 30, better: "lower", facts },
  ];
}

export const voice: Measure = { name: "voice", run };
