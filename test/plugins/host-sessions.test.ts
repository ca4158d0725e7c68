import { expect, test } from "vitest";
import { openHost, seen } from "../harness/plugin-host.ts";

test("state in sessions is patched, projected and cleaned up; what cannot be kept is refused", async () => {
  await using place = await openHost([
    {
      id: "p",
      code: `
      api.registerSessionExtension({ namespace: "raw", description: "d" });
      api.registerSessionExtension({ namespace: "shown", description: "d", project: ({ state }) => ({ only: state.a }), cleanup: (ctx) => { seen.push(ctx); throw new Error("no") } });
      api.registerSessionExtension({ namespace: "breaks", description: "d", project() { throw new Error("no") } });
    `,
    },
  ]);
  const { sessions } = place.host;
  const key = "agent:main:main";
  for (const namespace of ["raw", "shown", "breaks"]) await sessions.patch({ key, pluginId: "p", namespace, value: { a: 1, b: 2 } });
  expect(await sessions.project(key, "id")).toEqual([
    { pluginId: "p", namespace: "raw", value: { a: 1, b: 2 } },
    { pluginId: "p", namespace: "shown", value: { only: 1 } },
  ]);
  expect(place.messages("p")).toEqual(["the projection of the session extension breaks failed: no"]);
  await expect(sessions.patch({ key, pluginId: "p", namespace: "none", value: 1 })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(sessions.patch({ key, pluginId: "p", namespace: "raw", value: "x".repeat(20_000) })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await expect(sessions.patch({ key, pluginId: "p", namespace: "raw", value: 1n })).rejects.toMatchObject({ code: "INVALID_INPUT" });
  await sessions.ended(key, "reset");
  await place.host.disable("p");
  expect(seen.seen).toEqual([{ reason: "reset", sessionKey: key }, { reason: "disable" }]);
  expect(sessions.any).toBe(false);
  expect(place.written.at(-1)).toEqual(["extensions.clear", { pluginId: "p" }]);
});

test("a next-turn injection is on disk when it is promised; what does not fit or is not allowed is not kept", async () => {
  await using place = await openHost(
    [
      { id: "p", code: `seen.push(api.session.workflow.enqueueNextTurnInjection)` },
      { id: "kept-out", code: `seen.push(api.enqueueNextTurnInjection)` },
    ],
    { config: { plugins: { entries: { "kept-out": { hooks: { allowPromptInjection: false } } } } } },
  );
  const [enqueue, refused] = seen.seen as ((injection: unknown) => Promise<unknown>)[];
  expect(await enqueue!({ sessionKey: "main", text: " note ", idempotencyKey: "k", ttlMs: 1000, metadata: { a: 1 } })).toMatchObject({
    enqueued: true,
    sessionKey: "agent:main:main",
  });
  expect(place.written).toEqual([
    [
      "injections.add",
      expect.objectContaining({
        pluginId: "p",
        sessionKey: "agent:main:main",
        text: "note",
        placement: "prepend_context",
        idempotencyKey: "k",
        expiresAt: place.clock.now() + 1000,
      }),
    ],
  ]);
  expect(await refused!({ sessionKey: "main", text: "x" })).toMatchObject({ enqueued: false });
  for (const wrong of [
    undefined,
    {},
    { sessionKey: "main" },
    { sessionKey: "main", text: "x", ttlMs: 0 },
    { sessionKey: "main", text: "x", placement: "here" },
    { sessionKey: "main", text: "x".repeat(70_000) },
  ]) {
    await expect(enqueue!(wrong)).rejects.toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("api.enqueueNextTurnInjection") });
  }
  expect(place.written).toHaveLength(1);
});
