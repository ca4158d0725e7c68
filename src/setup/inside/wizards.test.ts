import { describe, expect, test } from "vitest";
import { manualClock } from "../../base/clock.ts";
import { AppError } from "../../base/errors.ts";
import { createIds } from "../../base/ids.ts";
import { seededRandom } from "../../base/random.ts";
import type { Asker } from "../asker.ts";
import { createWizards } from "./wizards.ts";

type Run = Parameters<typeof createWizards>[0]["run"];

function setup(run: Run) {
  const clock = manualClock();
  const wizards = createWizards({ clock, ids: createIds(seededRandom(1)), redact: (text) => text.replaceAll("sk-secret", "***"), run });
  return { clock, wizards };
}

const twoQuestions: Run = async (ask: Asker) => {
  const name = await ask.text({ message: "Name", validate: (text) => (text === "" ? "a name" : undefined) });
  await ask.select({ message: `Colour of ${name}`, options: [{ value: { rgb: 1 }, label: "red" }] });
};

describe("a wizard over a connection", () => {
  test("gives a step at a time; what does not fit is asked again with what is wrong", async () => {
    const { wizards } = setup(twoQuestions);
    const { sessionId, step } = await wizards.start({});
    expect(step).toMatchObject({ type: "text", message: "Name" });
    const wrong = await wizards.next({ sessionId, answer: { stepId: step!.id, value: "" } });
    expect(wrong).toEqual({ done: false, status: "running", step, error: "a name" });
    expect(await wizards.next({ sessionId, answer: { stepId: step!.id, value: 5 } })).toMatchObject({ error: expect.stringContaining("a text") });
    const second = await wizards.next({ sessionId, answer: { stepId: step!.id, value: "Ada" } });
    expect(second.step).toMatchObject({ type: "select", message: "Colour of Ada" });
    expect(await wizards.next({ sessionId, answer: { stepId: second.step!.id, value: { rgb: 2 } } })).toMatchObject({ error: expect.any(String) });
    expect(await wizards.next({ sessionId, answer: { stepId: second.step!.id, value: { rgb: 1 } } })).toEqual({ done: true, status: "done" });
  });

  test("asked without an answer it shows the step again; an answer to another step is refused", async () => {
    const { wizards } = setup(twoQuestions);
    const { sessionId, step } = await wizards.start({});
    expect(await wizards.next({ sessionId })).toMatchObject({ step });
    await expect(wizards.next({ sessionId, answer: { stepId: "old", value: "x" } })).rejects.toMatchObject({ code: "CONFLICT" });
  });

  test("one runs at a time; when it has ended another may begin and the first is forgotten", async () => {
    const { wizards } = setup(twoQuestions);
    const first = await wizards.start({});
    await expect(wizards.start({})).rejects.toMatchObject({ code: "CONFLICT", message: expect.stringContaining("wizard already running") });
    expect(await wizards.cancel({ sessionId: first.sessionId })).toEqual({ status: "cancelled" });
    expect(await wizards.status({ sessionId: first.sessionId })).toEqual({ status: "cancelled" });
    await wizards.start({});
    await expect(wizards.status({ sessionId: first.sessionId })).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("nobody answers for a quarter of an hour: it is left, and the next may begin", async () => {
    const { wizards, clock } = setup(twoQuestions);
    const { sessionId } = await wizards.start({});
    clock.advance(15 * 60_000 - 1);
    expect(await wizards.status({ sessionId })).toEqual({ status: "running" });
    clock.advance(1);
    expect(await wizards.next({ sessionId })).toEqual({ done: true, status: "cancelled" });
  });

  test("a call waits a while for slow work, then says that it goes on", async () => {
    const work = Promise.withResolvers<void>();
    const { wizards, clock } = setup(() => work.promise);
    const starting = wizards.start({});
    await Promise.resolve();
    clock.advance(20_000);
    const { sessionId, ...rest } = await starting;
    expect(rest).toEqual({ done: false, status: "running" });
    const next = wizards.next({ sessionId });
    work.resolve();
    expect(await next).toEqual({ done: true, status: "done" });
  });

  test("a failure is reported without the secrets in it", async () => {
    const { wizards } = setup(() => Promise.reject(new AppError("IO_ERROR", "no space for sk-secret")));
    expect(await wizards.start({})).toMatchObject({ done: true, status: "error", error: "no space for ***" });
  });

  test("cancelled while it works: that is aborted, and the next question finds nobody", async () => {
    const seen: boolean[] = [];
    const { wizards, clock } = setup(async (ask, _given, signal) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      seen.push(signal.aborted);
      await ask.confirm({ message: "Still there?" });
    });
    const starting = wizards.start({});
    await Promise.resolve();
    clock.advance(20_000);
    const { sessionId } = await starting;
    expect(await wizards.cancel({ sessionId })).toEqual({ status: "cancelled" });
    expect(seen).toEqual([true]);
  });

  test("what is secret is marked, lists take only what was offered, notes take anything", async () => {
    const answers: unknown[] = [];
    const { wizards } = setup(async (ask) => {
      answers.push(await ask.password({ message: "Key" }));
      answers.push(
        await ask.multiselect({
          message: "Which?",
          options: [
            { value: "a", label: "A" },
            { value: "b", label: "B" },
          ],
        }),
      );
      await ask.note("read this", "Title");
      answers.push(await ask.confirm({ message: "Sure?" }));
    });
    let { sessionId, step } = await wizards.start({});
    const answer = async (value?: unknown) => {
      const progress = await wizards.next({ sessionId, answer: { stepId: step!.id, ...(value === undefined ? {} : { value }) } });
      step = progress.step;
      return progress;
    };
    expect(step).toMatchObject({ type: "text", sensitive: true });
    await answer("sk-1");
    expect(await answer(["a", "c"])).toMatchObject({ error: expect.any(String) });
    await answer(["b"]);
    expect(step).toMatchObject({ type: "note", title: "Title", message: "read this" });
    await answer();
    expect(await answer("yes")).toMatchObject({ error: "expected true or false" });
    await answer(false);
    expect(answers).toEqual(["sk-1", ["b"], false]);
  });
});
