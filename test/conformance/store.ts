/** What every store has to do, whatever it is built on: an implementation calls `storeConformance` with a way to open it. */
import { describe } from "vitest";
import { commits } from "./store/commits.ts";
import { coordination, retention } from "./store/coordination.ts";
import { inbox, outbox } from "./store/messages.ts";
import { records } from "./store/records.ts";
import { redaction } from "./store/redaction.ts";
import { sessions } from "./store/sessions.ts";
import { transcripts } from "./store/transcripts.ts";
import { turns, work } from "./store/turns.ts";
import { storeWorld, type OpenStore } from "./store/world.ts";

/** The tests by what they are about. */
const PARTS = {
  commits,
  inbox,
  "turns and journal": turns,
  outbox,
  sessions,
  transcripts,
  redaction,
  "leases and idempotency": coordination,
  "approvals, subagents and cron": work,
  "devices, extensions and usage": records,
  retention,
};

export function storeConformance(name: string, open: OpenStore): void {
  for (const [part, tests] of Object.entries(PARTS)) {
    describe(`${name}: ${part}`, () => {
      tests(storeWorld(open));
    });
  }
}
