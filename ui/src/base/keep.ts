const PREFIX = "openclaw.";

/** What this browser remembers. A browser that forbids it remembers nothing, and nothing else breaks. */
export const keep = {
  text(key: string): string | undefined {
    try {
      return localStorage.getItem(PREFIX + key) ?? undefined;
    } catch {
      return undefined;
    }
  },
  setText(key: string, value: string | undefined): void {
    try {
      if (value === undefined) localStorage.removeItem(PREFIX + key);
      else localStorage.setItem(PREFIX + key, value);
    } catch {
      // Full, or forbidden.
    }
  },
  /** What was kept as JSON; `otherwise` when there is nothing readable. */
  json<T>(key: string, otherwise?: T): T | undefined {
    try {
      const text = keep.text(key);
      return text === undefined ? otherwise : (JSON.parse(text) as T);
    } catch {
      return otherwise;
    }
  },
  setJson(key: string, value: unknown): void {
    keep.setText(key, value === undefined ? undefined : JSON.stringify(value));
  },
};
