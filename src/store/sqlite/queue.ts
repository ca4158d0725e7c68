import type { CommitRequest, ControlRequest, ReadRequest, Request } from "./messages.ts";

/** Requests that arrived at the writer and are not processed yet, by kind. */
export interface RequestQueue {
  readonly commits: CommitRequest[];
  readonly reads: ReadRequest[];
  readonly controls: ControlRequest[];
  accept(request: Request): void;
  /** Takes every message that waits at the port. */
  pull(): void;
  size(): number;
}

export function createQueue(receive: () => Request | undefined): RequestQueue {
  const commits: CommitRequest[] = [];
  const reads: ReadRequest[] = [];
  const controls: ControlRequest[] = [];

  function accept(request: Request): void {
    if (request.type !== "batch") {
      controls.push(request);
      return;
    }
    for (const commit of request.commits) commits.push(commit);
    for (const read of request.reads) reads.push(read);
  }

  return {
    commits,
    reads,
    controls,
    accept,
    pull() {
      for (let request = receive(); request; request = receive()) accept(request);
    },
    size: () => commits.length + reads.length + controls.length,
  };
}
