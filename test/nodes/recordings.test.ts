/** What a node host that is killed in the middle of a recording leaves, and what its next start does about it. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { identify, isRunning } from "../../src/base/process-identity.ts";
import { makePlace, type Place } from "../harness/gateway-process.ts";
import { startScripted, type Visitor } from "../harness/scripted-gateway.ts";
import { startHost } from "./host-process.ts";

/** Begins to record, and says so by its process id in `recording`; it would go on for minutes. */
const RECORDER = `#!/bin/sh
for last; do :; done
umask 022
head -c 4096 /dev/zero > "$last"
echo $$ > "$(dirname "$0")/pid"
sleep 300`;

const KINDS = [
  ["camera.clip", { camera: { enabled: true, sources: [{ name: "door", input: ["-i", "door"] }] } }],
  ["screen.record", { screen: { enabled: true, input: ["-i", "screen"] } }],
] as const;

function nodeWith(nodeHost: object): { readonly place: Place; readonly programs: string; readonly recordings: string } {
  const place = makePlace();
  place.configure(JSON.stringify({ nodeHost }));
  const programs = mkdtempSync(join(tmpdir(), "openclaw-recorder-"));
  writeFileSync(join(programs, "ffmpeg"), RECORDER);
  chmodSync(join(programs, "ffmpeg"), 0o755);
  return { place, programs, recordings: join(place.stateDir, "node", "recordings") };
}

function ask(visitor: Visitor, command: string): void {
  const payload = { id: "invoke-1", nodeId: "n", command, paramsJSON: "{}", timeoutMs: 60_000, idempotencyKey: "invoke-1" };
  visitor.send({ type: "event", event: "node.invoke.request", payload });
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test.each(KINDS)("%s: the next start removes what a killed node left, and ends the program that still records", async (command, nodeHost) => {
  await using gateway = await startScripted();
  const { place, programs, recordings } = nodeWith(nodeHost);
  const env = { PATH: `${programs}:${process.env["PATH"]}` };
  const host = startHost(gateway.url, { place, env });
  const visitor = await gateway.visitor();
  await visitor.welcome();
  ask(visitor, command);
  await expect.poll(() => existsSync(join(programs, "pid")) && readFileSync(join(programs, "pid"), "utf8")).toMatch(/^\d+\n$/);
  const recorder = identify(Number(readFileSync(join(programs, "pid"), "utf8")));
  const [name = ""] = readdirSync(recordings);
  // The node notes the program right after its start; the program may be faster.
  await expect
    .poll(() =>
      readdirSync(join(recordings, name))
        .map((file) => file.replace(/\.\w+$/, ""))
        .sort(),
    )
    .toEqual(["recorder", "recording"]);
  expect([modeOf(recordings), modeOf(join(recordings, name))]).toEqual([0o700, 0o700]);

  await host.kill();
  expect([isRunning(recorder), existsSync(join(recordings, name))]).toEqual([true, true]);

  await using again = startHost(gateway.url, { place, env });
  await (await gateway.visitor()).welcome();
  await expect.poll(() => isRunning(recorder)).toBe(false);
  await expect.poll(() => readdirSync(recordings)).toEqual([]);
  expect(again.child.exitCode).toBeNull();
});

test("a process that has the number of a recorder which ended long ago is left alone", async () => {
  await using gateway = await startScripted();
  const { place, recordings } = nodeWith({});
  mkdirSync(join(recordings, "recording-old"), { recursive: true, mode: 0o700 });
  writeFileSync(join(recordings, "recording-old", "recorder.json"), JSON.stringify({ ...identify(process.pid), startTime: 1 }));
  await using host = startHost(gateway.url, { place });
  await (await gateway.visitor()).welcome();
  expect(readdirSync(recordings)).toEqual([]);
  expect([isRunning(identify(process.pid)), host.child.exitCode]).toEqual([true, null]);
});
