import type { HealthReport } from "./health.ts";

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** Why there is no Control UI, and what to do about it. */
const WHY_NONE = {
  "not-built":
    "The Control UI is not built here: <code>npm run build</code> in a checkout does it, or <code>gateway.controlUi.root</code> names a folder that has it.",
  off: "The Control UI is turned off by <code>gateway.controlUi.enabled</code>.",
} as const;

/** What a browser sees where there is no Control UI: that the gateway runs, and whether it is well. Shows nothing private. */
export function welcomePage({ status, version }: Pick<HealthReport, "status" | "version">, why: keyof typeof WHY_NONE): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>OpenClaw</title>
<style>
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 36rem; margin: 12vh auto; padding: 0 1.5rem; color: #1d1d1f; background: #fafafa }
  h1 { font-size: 1.6rem } code { background: #eee; padding: .1em .4em; border-radius: .3em }
  .status { display: inline-block; padding: .1em .7em; border-radius: 1em; color: #fff; background: ${status === "ok" ? "#2e7d32" : status === "degraded" ? "#b26a00" : "#c62828"} }
  @media (prefers-color-scheme: dark) { body { color: #eee; background: #161618 } code { background: #2a2a2e } }
</style>
<h1>OpenClaw gateway</h1>
<p><span class="status">${escape(status)}</span> version ${escape(version)}</p>
<p>The gateway is running. ${WHY_NONE[why]}</p>
<p><code>openclaw status</code> tells more, <code>openclaw logs --follow</code> shows what happens.</p>
</html>
`;
}
