import type { Clock } from "../../base/clock.ts";
import { AppError, messageOf } from "../../base/errors.ts";
import type { Ids } from "../../base/ids.ts";
import type { WizardPort } from "../../gateway/index.ts";
import type { MethodParams, MethodResult } from "../../protocol/index.ts";
import { isLeft, type Asker } from "../asker.ts";
import { createWireAsker, type WireAsker } from "./wire-asker.ts";

/** A call waits no longer than this for the next step; the client asks again. */
const WAIT_MS = 20_000;
/** Nobody answers any more: others may have their turn. */
const IDLE_MS = 15 * 60_000;

type Status = MethodResult<"wizard.status">["status"];
type Progress = MethodResult<"wizard.next">;
type Start = Pick<MethodParams<"wizard.start">, "mode" | "workspace">;

interface Session {
  readonly id: string;
  readonly ask: WireAsker;
  /** Ends with the wizard; never rejects. */
  readonly ended: Promise<void>;
  readonly stop: AbortController;
  status: Status;
  error: string | undefined;
  idle: Disposable | undefined;
  /** Called at every step, and at the end. */
  readonly listeners: Set<() => void>;
}

export interface WizardsDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  /** Takes secrets out of an error. */
  readonly redact: (text: string) => string;
  /** The wizard itself. */
  readonly run: (ask: Asker, answers: Start, signal: AbortSignal) => Promise<unknown>;
}

/** Starts the wizard; it runs until it ends or is left. */
function begin({ ids, redact, run }: WizardsDeps, answers: Start): Session {
  const listeners = new Set<() => void>();
  const wake = (): void => {
    for (const listener of listeners) listener();
  };
  const ask = createWireAsker(ids, wake);
  const stop = new AbortController();
  const ended = Promise.withResolvers<void>();
  const made: Session = { id: ids.uuid(), ask, ended: ended.promise, stop, status: "running", error: undefined, idle: undefined, listeners };
  const end = (status: Status, error?: unknown): void => {
    made.status = status;
    made.error = error === undefined ? undefined : redact(messageOf(error));
    made.idle?.[Symbol.dispose]();
    wake();
    ended.resolve();
  };
  // A turn of the loop later: the caller has the session by then.
  void Promise.resolve()
    .then(() => run(ask, answers, stop.signal))
    .then(
      () => end("done"),
      (error: unknown) => (isLeft(error) ? end("cancelled") : end("error", error)),
    );
  return made;
}

export function createWizards(deps: WizardsDeps): WizardPort {
  const { clock } = deps;
  let session: Session | undefined;

  function leave(left: Session): void {
    left.stop.abort();
    left.ask.leave();
  }

  function watch(watched: Session): void {
    watched.idle?.[Symbol.dispose]();
    if (watched.status === "running") watched.idle = clock.after(IDLE_MS, () => leave(watched));
  }

  function find(id: string): Session {
    if (session?.id === id) return session;
    throw new AppError("NOT_FOUND", "wizard not found: it has ended, or the gateway was started again; begin with wizard.start");
  }

  /** Resolves when a step waits or the wizard has ended, or after a while. */
  async function settled(current: Session): Promise<void> {
    const { ask, listeners } = current;
    if (ask.step || current.status !== "running") return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (ask.step || current.status !== "running") resolve();
    };
    listeners.add(look);
    using _ = clock.after(WAIT_MS, resolve);
    await promise.finally(() => listeners.delete(look));
  }

  function progressOf({ ask, status, error }: Session, wrong?: string): Progress {
    if (status !== "running") return { done: true, status, ...(error === undefined ? {} : { error }) };
    return { done: false, status, ...(ask.step ? { step: ask.step } : {}), ...(wrong === undefined ? {} : { error: wrong }) };
  }

  return {
    async start({ mode, workspace }) {
      if (session?.status === "running") throw new AppError("CONFLICT", "wizard already running: finish it, or end it with wizard.cancel");
      const current = begin(deps, { ...(mode === undefined ? {} : { mode }), ...(workspace === undefined ? {} : { workspace }) });
      session = current;
      watch(current);
      await settled(current);
      return { sessionId: current.id, ...progressOf(current) };
    },
    async next({ sessionId, answer }) {
      const current = find(sessionId);
      watch(current);
      if (answer && current.status === "running") {
        const { step } = current.ask;
        if (step?.id !== answer.stepId) {
          throw new AppError("CONFLICT", `the step ${answer.stepId} does not wait for an answer${step ? `; ${step.id} does` : ""}`);
        }
        const wrong = current.ask.answer(answer.value);
        if (wrong !== undefined) return progressOf(current, wrong);
      }
      await settled(current);
      return progressOf(current);
    },
    async cancel({ sessionId }) {
      const current = find(sessionId);
      if (current.status === "running") leave(current);
      await current.ended;
      return { status: current.status, ...(current.error === undefined ? {} : { error: current.error }) };
    },
    async status({ sessionId }) {
      const { status, error } = find(sessionId);
      return { status, ...(error === undefined ? {} : { error }) };
    },
  };
}
