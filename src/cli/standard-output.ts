import { fstatSync, writeSync, type Stats } from "node:fs";
import { systemCode } from "../base/errors.ts";

/** What a command prints to. */
export interface StandardOutput {
  readonly write: (text: string) => void;
  /** A terminal, and not a file or another program. */
  readonly isTerminal: boolean;
  /** Width of the terminal; undefined when it is none. */
  readonly columns: number | undefined;
}

/** The calls that reach the descriptor, and the stream for what they cannot do. */
export interface OutputPort {
  /** Gives how many bytes were taken. */
  readonly write: (bytes: Uint8Array) => number;
  readonly isDevice: () => boolean;
  readonly stream: () => Pick<NodeJS.WriteStream, "isTTY" | "columns" | "write" | "on">;
  /** The reader is gone. */
  readonly end: () => void;
}

/** Linux's number for devices like `/dev/null`, which are none. */
const MEMORY_DEVICES = 1;

function mayBeTerminal(stats: Stats): boolean {
  return stats.isCharacterDevice() && !(process.platform === "linux" && stats.rdev >> 8 === MEMORY_DEVICES);
}

const STDOUT: OutputPort = {
  write: (bytes) => writeSync(1, bytes),
  isDevice: () => mayBeTerminal(fstatSync(1)),
  stream: () => process.stdout,
  // A closed pipe (`openclaw logs | head`) is the reader's way to say that it has enough.
  end: () => process.exit(0),
};

/**
 * Writes without Node's stream while it can: the stream writes the same way, and to load it takes a tenth of what a bare start takes. Where a write would
 * have to wait (the reader made the pipe so), the stream takes over.
 */
export function createStandardOutput(port: OutputPort = STDOUT): StandardOutput {
  let stream: ReturnType<OutputPort["stream"]> | undefined;

  function opened(): ReturnType<OutputPort["stream"]> {
    if (stream) return stream;
    stream = port.stream();
    stream.on("error", (error: Error) => (systemCode(error) === "EPIPE" ? port.end() : undefined));
    return stream;
  }

  return {
    write(text) {
      if (stream || process.platform === "win32") return void opened().write(text);
      let rest: Uint8Array = Buffer.from(text);
      try {
        while (rest.length > 0) rest = rest.subarray(port.write(rest));
      } catch (error) {
        const code = systemCode(error);
        if (code === "EPIPE") return port.end();
        if (code !== "EAGAIN") throw error;
        opened().write(rest);
      }
    },
    get isTerminal() {
      return port.isDevice() && opened().isTTY;
    },
    get columns() {
      return port.isDevice() ? opened().columns : undefined;
    },
  };
}
