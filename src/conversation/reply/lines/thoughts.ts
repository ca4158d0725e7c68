/** What the model thinks, collected from the events of a turn. */
export interface Thoughts {
  push(text: string, delta: string): void;
  /** The model has spoken or called a tool: what it thought until then counts. */
  done(): void;
  /** What it thinks right now, from its beginning. */
  current(): string;
  /** Everything that was not taken yet. */
  take(): string;
}

const MAX_CHARS = 32_000;

export function createThoughts(): Thoughts {
  let finished: string[] = [];
  let now = "";

  function done(): void {
    if (now.trim() !== "") finished.push(now.trim());
    now = "";
  }

  return {
    push(text, delta) {
      // It begins anew without having led to anything: that call was given up.
      if (text.length === delta.length) now = "";
      if (now.length < MAX_CHARS) now += delta;
    },
    done,
    current: () => now,
    take() {
      done();
      const all = finished.join("\n\n");
      finished = [];
      return all;
    },
  };
}
