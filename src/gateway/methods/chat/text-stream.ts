import type { Clock } from "../../../base/clock.ts";
import type { AgentDelta, EventPayload } from "../../../protocol/index.ts";
import { newCursor, TEXT_FORMS, type PieceOptions, type TextCursor, type TextForm } from "../../fanout.ts";
import type { SendPiece } from "../deps.ts";

/**
 * How often a form of a text is sent. Each byte of text earns `worth` bytes that may be sent, so that what a connection gets is bounded by the text,
 * whatever the number of pieces it came in.
 */
interface Pace {
  /** At least between two pieces. */
  readonly everyMs: number;
  readonly worth: number;
  /** Earned before the first byte: the beginning of an answer is shown as it comes. */
  readonly start: number;
  /** When nothing more came for this long, what is left may be sent for `quietWorth`. */
  readonly quietMs: number;
  readonly quietWorth: number;
}

/** Whole texts are sent twice, in an `agent` and in a `chat` event. Their interval grows with the text: every piece is about 4 % longer than the one before. */
const PACES: Readonly<Record<TextForm, Pace>> = {
  whole: { everyMs: 150, worth: 44, start: 8192, quietMs: 1000, quietWorth: 52 },
  deltas: { everyMs: 50, worth: 8, start: 4096, quietMs: 2000, quietWorth: Number.POSITIVE_INFINITY },
};

/** Bytes of a frame besides the text, about. */
const FRAME_BYTES = 230;

interface Track {
  readonly pace: Pace;
  cursor: TextCursor;
  /** Bytes that connections of this form were sent. */
  spent: number;
  /** When the last piece was sent. */
  at: number;
  /** Connections with a backlog lack something that the others have. */
  behind: boolean;
  timer: Disposable | undefined;
}

/** One text of a run as it grows: collects its pieces and sends them at the pace of each form. */
export interface TextStream extends Disposable {
  /** `text` is all of it. One that does not continue the text so far begins another. */
  push(text: string, delta: string): void;
  /** Something else follows: what waits is sent first. `last`: the whole text follows in another event. */
  flush(last?: boolean): void;
  /** Another text of the run goes on: what waits is sent first as far as the pace allows. */
  giveWay(): void;
  /** There may be something to flush. */
  readonly waiting: boolean;
}

export interface TextStreamDeps {
  readonly piece: SendPiece;
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** Connections that are sent it; undefined for all. */
  readonly only: () => ReadonlySet<string> | undefined;
  /** The event for connections of a form; `from` is how much of the text they have. Called once for each piece that is sent. */
  readonly payload: (
    form: TextForm,
  ) => (data: { readonly text: string; readonly delta: string } | { readonly delta: string; readonly at: number }) => AgentPayload;
  /** A piece of the whole text was sent, and more is to come. True when the text was sent once more, in another event. */
  readonly beside?: (() => boolean) | undefined;
}

type AgentPayload = EventPayload<"agent"> | AgentDelta;

function newTrack(form: TextForm): Track {
  return { pace: PACES[form], cursor: newCursor(form), spent: 0, at: Number.NEGATIVE_INFINITY, behind: false, timer: undefined };
}

/** Characters that were not sent yet. */
const unsent = ({ cursor }: Track): number => cursor.length - cursor.sent;

export function createTextStream({ piece, clock, only, payload, beside }: TextStreamDeps): TextStream {
  const tracks = TEXT_FORMS.map(newTrack);
  let text = "";
  /** Of this text, and of all texts together. */
  let bytes = 0;
  let earned = 0;
  let pushedAt = 0;

  /** Whether the next piece is within what the text so far has earned. */
  function isAffordable(track: Track, worth: number): boolean {
    const { cursor, pace, spent } = track;
    const next = cursor.form === "whole" ? 2 * (bytes + FRAME_BYTES) + unsent(track) : unsent(track) + FRAME_BYTES;
    return spent + next <= pace.start + earned * worth;
  }

  function send(track: Track, options: PieceOptions, last = false): void {
    const { cursor } = track;
    const event = payload(cursor.form);
    const fields = (from: number) => (cursor.form === "whole" ? { text, delta: text.slice(from) } : { delta: text.slice(from), at: from });
    const sent = piece(cursor, (from) => event(fields(from)), { ...options, only: only() });
    track.at = clock.monotonic();
    track.behind = sent.behind > 0;
    track.spent += sent.bytes;
    if (cursor.form === "whole" && !last && !options.missed && beside?.()) track.spent += sent.bytes;
    if (track.behind) arm(track);
  }

  function arm(track: Track): void {
    track.timer ??= clock.after(Math.max(0, track.at + track.pace.everyMs - clock.monotonic()), () => {
      track.timer = undefined;
      attempt(track);
    });
  }

  /** Sends what waits if its time has come, and otherwise looks again later. */
  function attempt(track: Track): void {
    const { pace } = track;
    const now = clock.monotonic();
    if (unsent(track) === 0) {
      if (track.behind) send(track, { missed: true });
      return;
    }
    const isQuiet = now - pushedAt >= pace.quietMs || (pace.quietWorth === Number.POSITIVE_INFINITY && now - track.at >= pace.quietMs);
    if (now - track.at < pace.everyMs) return arm(track);
    if (isAffordable(track, isQuiet ? pace.quietWorth : pace.worth)) return send(track, {});
    // Once it is quiet only more text can change that.
    if (!isQuiet) track.timer ??= clock.after(pace.everyMs, () => ((track.timer = undefined), attempt(track)));
  }

  function flush(last = false): void {
    for (const track of tracks) if (unsent(track) > 0) send(track, { urgent: true }, last);
  }

  return {
    get waiting() {
      return tracks.some((track) => unsent(track) > 0);
    },
    push(whole, delta) {
      const continues = whole.length === text.length + delta.length;
      if (!continues) {
        flush();
        bytes = 0;
        for (const track of tracks) track.cursor = newCursor(track.cursor.form);
      }
      const more = Buffer.byteLength(continues ? delta : whole);
      text = whole;
      bytes += more;
      earned += more;
      pushedAt = clock.monotonic();
      for (const track of tracks) {
        track.cursor.length = whole.length;
        if (!track.timer) attempt(track);
      }
    },
    flush,
    giveWay() {
      for (const track of tracks) if (unsent(track) > 0 && isAffordable(track, track.pace.worth)) send(track, { urgent: true });
    },
    [Symbol.dispose]() {
      for (const { timer } of tracks) timer?.[Symbol.dispose]();
    },
  };
}
