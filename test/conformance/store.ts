/** What every store has to do, whatever it is built on: an implementation calls `storeConformance` with a way to open it. */
import { describe } from "vitest";
import { commits } from "./store/commits.ts";
import { coordination, retention } from "./store/coordination.ts";
import { inbox, outbox } from "./store/messages.ts";
import { records } from "./store/records.ts";
import { sessions } from "./store/sessions.ts";
import { transcripts } from "./store/transcripts.ts";
import { turns, work } from "./store/turns.ts";
import { storeWorld, type OpenStore } from "./store/world.ts";

export function storeConformance(name: string, open: OpenStore): void {
  describe(`${name}: commits`, () => commits(storeWorld(open)));
  describe(`${name}: inbox`, () => inbox(storeWorld(open)));
  describe(`${name}: turns and journal`, () => turns(storeWorld(open)));
  describe(`${name}: outbox`, () => outbox(storeWorld(open)));
  describe(`${name}: sessions`, () => sessions(storeWorld(open)));
  describe(`${name}: transcripts`, () => transcripts(storeWorld(open)));
  describe(`${name}: leases and idempotency`, () => coordination(storeWorld(open)));
  describe(`${name}: approvals, subagents, cron`, () => work(storeWorld(open)));
  describe(`${name}: devices, extensions, usage`, () => records(storeWorld(open)));
  describe(`${name}: retention`, () => retention(storeWorld(open)));
}
