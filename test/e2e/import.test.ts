import { createHash } from "node:crypto";
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makePlace, ROOT, type Place } from "../harness/gateway-process.ts";

const REFERENCE = join(ROOT, "test/fixtures/state/reference");
const INDEXES = ["agents/main/sessions/sessions.json", "agents/work/sessions/sessions.json"];

type Index = Record<string, Record<string, unknown>>;

/** A place whose state folder another make of gateway has left behind. */
function makeUsedPlace(): Place {
  const place = makePlace();
  cpSync(REFERENCE, place.stateDir, { recursive: true });
  for (const index of INDEXES) {
    const path = join(place.stateDir, index);
    writeFileSync(path, readFileSync(path, "utf8").replaceAll("__STATE__", place.stateDir));
  }
  return place;
}

function hashes(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => statSync(join(folder, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex"),
    ]),
  );
}

const readIndex = (path: string): Index => JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));

test("an existing state folder is taken over: sessions --json shows what its indexes hold, and no file of it is changed", () => {
  const place = makeUsedPlace();
  const before = hashes(place.stateDir);
  const { code, stdout, stderr } = place.cli("sessions", "--json");
  expect([code, stderr]).toEqual([0, ""]);
  const rows = JSON.parse(stdout).sessions as Record<string, unknown>[];
  for (const index of INDEXES) {
    for (const [key, entry] of Object.entries(readIndex(join(place.stateDir, index)))) {
      const row = rows.find((candidate) => candidate["key"] === key.replace(":dm:", ":direct:"));
      if (entry["sessionId"] === undefined) {
        // No entry at all: there is nothing it could stand for. The file still has it.
        expect(row, key).toBeUndefined();
        continue;
      }
      expect(row, key).toMatchObject({ sessionId: entry["sessionId"], updatedAt: entry["updatedAt"] });
      for (const field of ["model", "inputTokens", "contextTokens", "thinkingLevel", "systemSent"])
        expect(row?.[field], `${key} ${field}`).toEqual(entry[field]);
    }
  }
  expect(hashes(place.stateDir)).toMatchObject(before);
});

test("a gateway started on it and the command line agree", async () => {
  const place = makeUsedPlace();
  await using gateway = await place.gateway();
  expect(gateway.url, gateway.output()).toBeDefined();
  const { sessions, health } = JSON.parse(place.cli("status", "--json").stdout);
  expect(health.ok).toBe(true);
  expect(sessions.count).toBe(JSON.parse(place.cli("sessions", "--json").stdout).count);
});

test("secrets in auth profiles do not get into the database", () => {
  const place = makeUsedPlace();
  place.cli("sessions");
  const secrets =
    JSON.stringify(readIndex(join(place.stateDir, "agents/main/agent/auth-profiles.json"))).match(/"(?:key|token|access|refresh)":"([^"]+)"/g) ?? [];
  expect(secrets.length).toBeGreaterThan(0);
  const database = readFileSync(join(place.stateDir, "openclaw.db"), "latin1");
  for (const secret of secrets) expect(database).not.toContain(secret.split('"')[3]);
});
