import { expect, test } from "vitest";
import { createHeldChanges, type HeldDeps } from "./held-changes.ts";

const failed = (code: string, details: object = {}): Error => Object.assign(new Error(code), { code, details });
const DONE = { ok: true } as Awaited<ReturnType<HeldDeps["request"]>>;

/** A connection that is lost and comes back; each request is answered by the next of the answers. */
function connection(answers: readonly (Error | typeof DONE)[]) {
  const keys: (string | undefined)[] = [];
  const left = [...answers];
  let back: (() => void) | undefined;
  const about = { isOpen: false };
  const held = createHeldChanges({
    isOpen: () => about.isOpen,
    connected: () => new Promise((resolve) => (back = resolve)),
    async request({ idempotencyKey }) {
      keys.push(idempotencyKey);
      const answer = left.shift()!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  const reconnect = async (): Promise<void> => {
    await expect.poll(() => back).toBeDefined();
    about.isOpen = true;
    back!();
  };
  return { held, keys, about, reconnect };
}

test("a change waits for the connection, however long that takes, and is sent again under its own key", async () => {
  const { held, keys, reconnect } = connection([failed("TIMEOUT"), DONE]);
  const done = held.send({ key: "a", pinned: true });
  await reconnect();
  expect(await done).toBe(DONE);
  expect(new Set(keys).size).toBe(1);
  expect(keys).toHaveLength(2);
});

test("what the gateway refuses, or does not answer though it is there, is reported at once", async () => {
  const refusal = failed("INVALID_INPUT", { protocolCode: "INVALID_REQUEST" });
  const { held, about } = connection([refusal, failed("TIMEOUT")]);
  await expect(held.send({ key: "a", label: "taken" })).rejects.toBe(refusal);
  about.isOpen = true;
  await expect(held.send({ key: "a", label: "free" })).rejects.toThrow("TIMEOUT");
});

test("nothing of a user who signed out is sent for the next one", async () => {
  const { held, keys, reconnect } = connection([failed("UNAVAILABLE", { closeCode: 1006 }), DONE]);
  const sent = held.send({ key: "a", pinned: true }).catch((error: Error) => error.message);
  await expect.poll(() => keys).toHaveLength(1);
  held.clear();
  await reconnect();
  expect(await sent).toBe("UNAVAILABLE");
  expect(keys).toHaveLength(1);
});
