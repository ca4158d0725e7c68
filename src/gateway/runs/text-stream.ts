import type { Clock } from "../../base/clock.ts";
import { TEXT_FORMS, type Fanout, type PieceOptions, type TextCursor, type TextEvent, type TextForm } from "../fanout.ts";

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

/** A form of a text: what its connections were sent, and at what pace. */
interface Track extends TextCursor {
  readonly pace: Pace;
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
  readonly piece: Fanout["piece"];
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** The event of the next piece for connections of a form. Called once for each piece that is sent. */
  readonly next: (form: TextForm) => TextEvent;
  /** Connections that are sent it. Default: all. */
  readonly only?: (() => ReadonlySet<string>) | undefined;
  /** A piece of the whole text was sent, and more is to come. True when the text was sent once more, in another event. */
  readonly beside?: (() => boolean) | undefined;
}

function newTrack(form: TextForm): Track {
  return { form, pace: PACES[form], sent: 0, positions: new Map(), spent: 0, at: Number.NEGATIVE_INFINITY, behind: false, timer: undefined };
}

export function createTextStream({ piece, clock, next, only, beside }: TextStreamDeps): TextStream {
  const tracks = TEXT_FORMS.map(newTrack);
  let text = "";
  /** Of this text, and of all texts together. */
  let bytes = 0;
  let earned = 0;
  let pushedAt = 0;

  /** Whether the next piece is within what the text so far has earned. */
  function isAffordable({ form, pace, sent, spent }: Track, worth: number): boolean {
    const unsent = text.length - sent;
    const cost = form === "whole" ? 2 * (bytes + FRAME_BYTES) + unsent : unsent + FRAME_BYTES;
    return spent + cost <= pace.start + earned * worth;
  }

  function send(track: Track, options: PieceOptions, last = false): void {
    const { form } = track;
    const result = piece(track, text, next(form), only ? { ...options, only: only() } : options);
    track.at = clock.monotonic();
    track.behind = result.behind > 0;
    track.spent += result.bytes;
    if (form === "whole" && !last && !options.missed && beside?.()) track.spent += result.bytes;
    if (track.behind) attemptAt(track, track.at + track.pace.everyMs);
  }

  function attemptAt(track: Track, at: number): void {
    track.timer ??= clock.after(Math.max(0, at - clock.monotonic()), () => {
      track.timer = undefined;
      attempt(track);
    });
  }

  /** Sends what waits if its time has come, and otherwise looks again later. */
  function attempt(track: Track): void {
    const { pace } = track;
    const now = clock.monotonic();
    if (text.length === track.sent) {
      if (track.behind) send(track, { missed: true });
      return;
    }
    const isQuiet = now - pushedAt >= pace.quietMs || (pace.quietWorth === Number.POSITIVE_INFINITY && now - track.at >= pace.quietMs);
    if (now - track.at < pace.everyMs) attemptAt(track, track.at + pace.everyMs);
    else if (isAffordable(track, isQuiet ? pace.quietWorth : pace.worth)) send(track, {});
    // Once it is quiet only more text can change that.
    else if (!isQuiet) attemptAt(track, now + pace.everyMs);
  }

  function flush(last = false): void {
    for (const track of tracks) if (text.length > track.sent) send(track, { urgent: true }, last);
  }

  return {
    get waiting() {
      return tracks.some(({ sent }) => text.length > sent);
    },
    push(whole, delta) {
      const continues = whole.length === text.length + delta.length;
      if (!continues) {
        flush();
        bytes = 0;
        for (const track of tracks) {
          track.sent = 0;
          track.positions.clear();
        }
      }
      const more = Buffer.byteLength(continues ? delta : whole);
      text = whole;
      bytes += more;
      earned += more;
      pushedAt = clock.monotonic();
      for (const track of tracks) if (!track.timer) attempt(track);
    },
    flush,
    giveWay() {
      for (const track of tracks) if (text.length > track.sent && isAffordable(track, track.pace.worth)) send(track, { urgent: true });
    },
    [Symbol.dispose]() {
      for (const { timer } of tracks) timer?.[Symbol.dispose]();
    },
  };
}
