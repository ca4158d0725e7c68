/** Environment variables as an argument. */
export type Env = Readonly<Record<string, string | undefined>>;

/** `1`, `true`, `yes` and `on`, in any case. */
export function isTruthy(value: string | undefined): boolean {
  return value !== undefined && /^(?:1|true|yes|on)$/i.test(value.trim());
}
