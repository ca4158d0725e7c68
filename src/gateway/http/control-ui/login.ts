import { parseJsonObject } from "../body.ts";
import type { HttpAuth } from "../guard.ts";
import { sendJson } from "../reply.ts";
import type { Exchange } from "../route.ts";

/** Whom the Origin rule is asked for: the page, which always has one. */
const PAGE = { id: "openclaw-control-ui", mode: "webchat" } as const;

/** Trades a login code for a device's token. Only the gateway's own page may ask. */
export async function answerLogin(
  { request, response, body }: Exchange,
  auth: Pick<HttpAuth, "checkOrigin" | "login">,
  runnable: (text: string) => string,
): Promise<void> {
  const refuse = (status: number, error: string, headers = {}): void => sendJson(response, status, { ok: false, error }, headers);
  const foreign = auth.checkOrigin(request, PAGE);
  if (foreign !== undefined) return refuse(403, foreign);
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers["content-type"] ?? "")) return refuse(415, "expected a body of content-type application/json");
  const parsed = parseJsonObject(body);
  if (!parsed.ok) return refuse(400, parsed.message);
  const verdict = await auth.login.redeem(request, { code: parsed.value["code"], device: parsed.value["device"] });
  if (verdict.ok) return sendJson(response, 200, verdict);
  const { retryAfterMs } = verdict;
  refuse(verdict.status, runnable(verdict.message), retryAfterMs === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(retryAfterMs / 1000))) });
}
