import { clientFrame, OPCODE } from "../wire/frame.ts";
import type { RawSocket } from "../wire/raw-socket.ts";
import type { FuzzFrame } from "./frames.ts";

export interface Response {
  readonly id: string;
  readonly ok: boolean;
  readonly payload?: { readonly status?: unknown } | null;
  readonly error?: { readonly code?: unknown; readonly message?: unknown };
}

export interface TrafficDeps {
  /** The next frame, as long as there are some. */
  readonly take: () => FuzzFrame | undefined;
  readonly judge: (frame: FuzzFrame, answer: Response) => void;
  readonly report: (text: string) => void;
  readonly shown: (frame: FuzzFrame) => string;
  /** How long the last answers may take. Default 15 s. */
  readonly overdueMs?: number;
}

/** One connection that always has a few frames open. */
export interface Traffic extends Disposable {
  readonly answered: number;
  /** Answers that were not the last one. */
  readonly accepted: number;
  readonly ok: number;
  /** Resolves when everything was sent and answered, or is overdue. */
  readonly done: Promise<void>;
}

/** Frames without an answer yet; far below what the gateway allows. */
const WINDOW = 48;
const OVERDUE_MS = 15_000;
const RESPONSE = Buffer.from('{"type":"res"');

export function createTraffic(
  raw: Pick<RawSocket, "socket" | "tap"> & Disposable,
  { take, judge, report, shown, overdueMs = OVERDUE_MS }: TrafficDeps,
): Traffic {
  const open = new Map<string, FuzzFrame>();
  const hostile = new Set<string>();
  const done = Promise.withResolvers<void>();
  /** Frames that may be answered under `invalid` or their id, less such answers. */
  let nameless = 0;
  let patient = 0;
  let exhausted = false;
  let answered = 0;
  let accepted = 0;
  let ok = 0;
  let overdue: NodeJS.Timeout | undefined;

  function giveUp(): void {
    const late = [...open.values()].filter(({ waits }) => waits !== true);
    for (const frame of late.slice(0, 3)) report(`no answer within ${overdueMs / 1000} s to ${shown(frame)}`);
    if (nameless > 0) report(`${nameless} frames without a usable id have no answer`);
    done.resolve();
  }

  function settle(): void {
    if (!exhausted) return;
    clearTimeout(overdue);
    if (open.size - patient > 0 || nameless > 0) overdue = setTimeout(giveUp, overdueMs);
    else done.resolve();
  }

  function onAnswer(text: string): void {
    const answer = JSON.parse(text) as Response;
    if (answer.ok && answer.payload?.status === "accepted") return void (accepted += 1);
    answered += 1;
    if (answer.ok) ok += 1;
    const frame = open.get(answer.id);
    if (frame) {
      open.delete(answer.id);
      if (frame.waits) patient -= 1;
      return judge(frame, answer);
    }
    if (!hostile.delete(answer.id) && answer.id !== "invalid") return report(`an answer that nobody waits for: ${text.slice(0, 300)}`);
    nameless -= 1;
    if (nameless < 0) report(`more answers under "invalid" than frames: ${text.slice(0, 300)}`);
  }

  function fill(): void {
    const batch: Buffer[] = [];
    while (!exhausted && open.size - patient + nameless < WINDOW && batch.length < WINDOW) {
      const frame = take();
      if (!frame) {
        exhausted = true;
        break;
      }
      if (frame.expected === "id") open.set(frame.id, frame);
      else if (frame.expected === "id-or-invalid") {
        hostile.add(frame.id);
        nameless += 1;
      }
      if (frame.waits) patient += 1;
      batch.push(clientFrame(frame.opcode, frame.payload));
    }
    if (batch.length > 0) raw.socket.write(Buffer.concat(batch));
    settle();
    // Nothing that is answered was among them.
    if (!exhausted && open.size - patient + nameless === 0) setImmediate(fill);
  }

  raw.tap = ({ opcode, payload }) => {
    if (opcode === OPCODE.close)
      report(`the connection was closed with ${payload.length < 2 ? "no code" : payload.readUInt16BE(0)}: ${payload.toString("utf8", 2)}`);
    if (opcode !== OPCODE.text || !payload.subarray(0, RESPONSE.length).equals(RESPONSE)) return;
    onAnswer(payload.toString("utf8"));
    if (exhausted || open.size - patient + nameless <= WINDOW / 2) fill();
  };
  raw.socket.once("close", () => {
    if (!exhausted || open.size - patient + nameless > 0) giveUp();
    exhausted = true;
  });
  fill();
  return {
    get answered() {
      return answered;
    },
    get accepted() {
      return accepted;
    },
    get ok() {
      return ok;
    },
    done: done.promise,
    [Symbol.dispose]() {
      clearTimeout(overdue);
      raw.tap = () => {};
      raw[Symbol.dispose]();
    },
  };
}
