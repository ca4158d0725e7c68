/** From strict to free. */
export const SECURITY_LEVELS = ["deny", "allowlist", "full"] as const;
/** From free to strict. */
export const ASK_LEVELS = ["off", "on-miss", "always"] as const;
export type ExecSecurity = (typeof SECURITY_LEVELS)[number];
export type ExecAsk = (typeof ASK_LEVELS)[number];

export function stricterSecurity(a: ExecSecurity, b: ExecSecurity): ExecSecurity {
  return SECURITY_LEVELS[Math.min(SECURITY_LEVELS.indexOf(a), SECURITY_LEVELS.indexOf(b))]!;
}

export function stricterAsk(a: ExecAsk, b: ExecAsk): ExecAsk {
  return ASK_LEVELS[Math.max(ASK_LEVELS.indexOf(a), ASK_LEVELS.indexOf(b))]!;
}
