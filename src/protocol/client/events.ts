import { AppError } from "../../base/errors.ts";
import type { EventFrame } from "../frames.ts";

export interface StreamOptions {
  readonly signal?: AbortSignal;
  /** Events that may wait for their reader before the stream fails with `OVERLOADED`. Default 10000. */
  readonly maxWaiting?: number;
}

type Listener = (payload: unknown, frame: EventFrame) => void;

/** Passes events to those who subscribed to their name. */
export interface Events {
  on(name: string, listener: Listener): Disposable;
  /** Listens from now on, whether or not it is read yet. */
  stream(name: string, options?: StreamOptions): AsyncIterableIterator<unknown>;
  emit(frame: EventFrame): void;
  /** Ends every stream. */
  end(): void;
}

/** One reader's events between coming and being read. */
function createStream(stop: () => void, { signal, maxWaiting = 10_000 }: StreamOptions) {
  const waiting: unknown[] = [];
  let reader: PromiseWithResolvers<IteratorResult<unknown>> | undefined;
  let over: { readonly error?: AppError } | undefined;

  function finish(error?: AppError): void {
    if (over) return;
    over = error ? { error } : {};
    stop();
    signal?.removeEventListener("abort", onAbort);
    if (error) reader?.reject(error);
    else reader?.resolve({ done: true, value: undefined });
    reader = undefined;
  }
  const onAbort = (): void => finish();
  if (signal?.aborted) finish();
  else signal?.addEventListener("abort", onAbort, { once: true });

  const iterator: AsyncIterableIterator<unknown> = {
    next() {
      if (waiting.length > 0) return Promise.resolve({ done: false, value: waiting.shift() });
      if (over?.error) return Promise.reject(over.error);
      if (over) return Promise.resolve({ done: true, value: undefined });
      reader ??= Promise.withResolvers();
      return reader.promise;
    },
    return() {
      finish();
      waiting.length = 0;
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return {
    iterator,
    finish,
    push(value: unknown): void {
      if (over) return;
      if (reader) {
        reader.resolve({ done: false, value });
        reader = undefined;
      } else if (waiting.length < maxWaiting) waiting.push(value);
      else finish(new AppError("OVERLOADED", `${maxWaiting} events are waiting to be read; read faster, or load the state again`));
    },
  };
}

export function createEvents(): Events {
  const listeners = new Map<string, Set<Listener>>();
  const open = new Set<() => void>();

  function on(name: string, listener: Listener): Disposable {
    const entry: Listener = (payload, frame) => listener(payload, frame);
    const known = listeners.get(name) ?? new Set();
    listeners.set(name, known.add(entry));
    return { [Symbol.dispose]: () => void known.delete(entry) };
  }

  return {
    on,
    stream(name, options = {}) {
      const resources = new DisposableStack();
      const stream = createStream(() => resources.dispose(), options);
      if (!resources.disposed) {
        resources.use(on(name, (payload) => stream.push(payload)));
        const finish = (): void => stream.finish();
        open.add(finish);
        resources.defer(() => void open.delete(finish));
      }
      return stream.iterator;
    },
    emit(frame) {
      for (const listener of listeners.get(frame.event) ?? []) listener(frame.payload, frame);
    },
    end() {
      for (const finish of open) finish();
    },
  };
}

/** Notices missing numbers. A new connection starts a new sequence. */
export function createSequence(onGap: (gap: { readonly expected: number; readonly received: number }) => void) {
  let last: number | undefined;
  return {
    take(seq: number | undefined): void {
      if (seq === undefined) return;
      const expected = last === undefined ? seq : last + 1;
      last = seq;
      if (seq > expected) onGap({ expected, received: seq });
    },
    reset(): void {
      last = undefined;
    },
  };
}
