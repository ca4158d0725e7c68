import type { Session } from "node:inspector";

/** Where the main thread is, innermost first. */
export interface StackFrame {
  readonly functionName: string;
  /** A path or a `node:` name. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

const WAIT_MS = 2000;
const MOST_FRAMES = 50;

interface Paused {
  readonly params: {
    readonly callFrames: readonly {
      readonly functionName: string;
      readonly url: string;
      readonly location: { readonly scriptId: string; readonly lineNumber: number };
    }[];
  };
}

const fileOf = (url: string): string => {
  const bare = url.replace(/[?#].*$/, "");
  try {
    return bare.startsWith("file:") ? decodeURIComponent(new URL(bare).pathname) : bare;
  } catch {
    return bare;
  }
};

/**
 * Interrupts the main thread for a moment and gives its stack; undefined when it cannot be interrupted, since it waits in a call to the system. For
 * other threads than the main one. Nothing is opened to the outside.
 */
export async function mainStack(): Promise<readonly StackFrame[] | undefined> {
  let session: Session | undefined;
  try {
    const inspector = process.getBuiltinModule("node:inspector");
    session = new inspector.Session();
    session.connectToMainThread();
    const urls = new Map<string, string>();
    const { promise, resolve } = Promise.withResolvers<readonly StackFrame[] | undefined>();
    const timer = setTimeout(() => resolve(undefined), WAIT_MS);
    session.on("Debugger.scriptParsed", ({ params }) => void urls.set(params.scriptId, params.url));
    session.once("Debugger.paused", ({ params }: Paused) => {
      const frames = params.callFrames.slice(0, MOST_FRAMES).map(({ functionName, url, location }) => ({
        functionName,
        file: fileOf(url === "" ? (urls.get(location.scriptId) ?? "") : url),
        line: location.lineNumber + 1,
      }));
      session?.post("Debugger.resume");
      resolve(frames);
    });
    session.post("Debugger.enable");
    session.post("Debugger.pause");
    const frames = await promise;
    clearTimeout(timer);
    session.post("Debugger.disable");
    return frames;
  } catch {
    return undefined;
  } finally {
    session?.disconnect();
  }
}
